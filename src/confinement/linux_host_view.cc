#include "confinement/linux_host_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "confinement/cgroup.h"
#include "domain/path.h"
#include "system/file.h"
#include "system/state_dir.h"

extern char** environ;

namespace cofferdam::confinement {
namespace {

PathFact::Type type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return PathFact::Type::kFile;
    case S_IFDIR:
      return PathFact::Type::kDirectory;
    case S_IFLNK:
      return PathFact::Type::kSymlink;
    case S_IFIFO:
      return PathFact::Type::kPipe;
    case S_IFSOCK:
      return PathFact::Type::kSocket;
    case S_IFCHR:
    case S_IFBLK:
      return PathFact::Type::kDevice;
    default:
      return PathFact::Type::kOther;
  }
}

PathFact fact_of(const struct stat& status) {
  PathFact fact;
  fact.type = type_of(status.st_mode);
  fact.identity = {.device = status.st_dev, .inode = status.st_ino};
  fact.uid = status.st_uid;
  fact.gid = status.st_gid;
  fact.mode = status.st_mode & 07777;
  return fact;
}

std::map<std::string, std::string> callers_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

// The ABI number of the kernel's Landlock; 0 when there is none or it is switched off.
int landlock_abi() {
  constexpr unsigned kVersionQuery = 1;
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionQuery);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

}  // namespace

Result<std::string> companion_program(const std::string& name) {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length < 0) return Error::from_errno(errno, "find the running program");
  const std::string directory = domain::parent_of(std::string_view(buffer, static_cast<std::size_t>(length)));
  for (const std::string& candidate :
       {domain::parent_of(directory) + "/libexec/cofferdam/" + name, directory + "/" + name}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error(ErrorCode::kFailedPrecondition, "the helper program " + name + " is missing beside " + directory)
      .with_hint("Install Cofferdam again; `./dev install` puts all its programs in place.");
}

Result<LinuxHostView> LinuxHostView::create() {
  LinuxHostView view;
  ASSIGN_OR_RETURN(view.facts_.init_program, companion_program("cofferdam-init"));
  ASSIGN_OR_RETURN(view.facts_.state_directory, system::state_directory());
  view.facts_.euid = ::geteuid();
  view.facts_.egid = ::getegid();
  view.facts_.environment = callers_environment();
  view.facts_.landlock_abi = landlock_abi();
  view.facts_.cgroups = read_cgroup_facts();
  return view;
}

bool LinuxHostView::is_hidden(const std::string& path) const {
  return std::ranges::any_of(hidden_, [&](const std::string& hidden) { return domain::is_inside(path, hidden); });
}

std::optional<PathFact> LinuxHostView::inspect(const std::string& path) const {
  if (is_hidden(path)) return std::nullopt;
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return fact_of(status);
}

std::optional<PathFact> LinuxHostView::follow(const std::string& path) const {
  if (is_hidden(path)) return std::nullopt;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return fact_of(status);
}

std::optional<PathFact> LinuxHostView::inspect_without_links(const std::string& path) const {
  if (is_hidden(path)) return std::nullopt;
  const UniqueFd file = system::open_without_links(path, O_PATH);
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return fact_of(status);
}

std::optional<std::string> LinuxHostView::real_path(const std::string& path) const {
  if (is_hidden(path)) return std::nullopt;
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (!resolved) return std::nullopt;
  return std::string(resolved.get());
}

std::optional<std::string> LinuxHostView::read_link(const std::string& path) const {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), buffer, sizeof buffer);
  if (length < 0) return std::nullopt;
  return std::string(buffer, static_cast<std::size_t>(length));
}

std::vector<std::string> LinuxHostView::list(const std::string& directory, std::size_t limit) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, decltype(&::closedir)> stream(::opendir(directory.c_str()), &::closedir);
  if (!stream) return names;
  while (names.size() < limit) {
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::optional<std::string> LinuxHostView::read_file(const std::string& path, std::size_t limit) const {
  if (is_hidden(path)) return std::nullopt;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return std::nullopt;
  auto content = system::read_up_to(file.get(), limit);
  if (!content) return std::nullopt;
  return std::move(*content);
}

std::optional<AccountFact> LinuxHostView::account(uid_t uid) const {
  // /etc/passwd first: the name service is slow to load and rarely needed.
  if (const auto passwd = read_file("/etc/passwd", std::size_t{1} << 20)) {
    for (const std::string_view line : split(*passwd, '\n')) {
      const std::vector<std::string_view> fields = split(line, ':');
      if (fields.size() >= 7 && parse_decimal(fields[2]) == uid) {
        return AccountFact{.name = std::string(fields[0]), .home = std::string(fields[5])};
      }
    }
  }
  const passwd* entry = ::getpwuid(uid);
  if (entry == nullptr) return std::nullopt;
  return AccountFact{.name = entry->pw_name, .home = entry->pw_dir};
}

}  // namespace cofferdam::confinement
