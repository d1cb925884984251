#include "control/placeholders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "domain/path.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

using confinement::Placeholder;
using system::open_without_links;

Error cannot_make(const Placeholder& placeholder) {
  const bool refused = errno == EACCES || errno == EPERM || errno == EROFS;
  Error error = Error::from_errno(errno, "make a placeholder for the protected " + placeholder.path);
  if (!refused) return error;
  return std::move(error).with_hint("An absent file is protected by one that stands in for it: let " +
                                    domain::parent_of(placeholder.path) +
                                    " be written, or use --agent-settings writable or --git-config writable.");
}

// A run started by root gives it to the owner of the tree.
void give_to_owner(int directory, int entry) {
  struct stat status{};
  if (::geteuid() != 0 || ::fstat(directory, &status) != 0 || (status.st_uid == 0 && status.st_gid == 0)) return;
  (void)!::fchown(entry, status.st_uid, status.st_gid);
}

Status fill(int directory, const UniqueFd& file, const Placeholder& placeholder) {
  give_to_owner(directory, file.get());
  return system::write_all(file.get(), placeholder.content, "the placeholder " + placeholder.path);
}

// It appears whole, since programs on the host may read it at any moment, and under no other name, which Git would
// see; where the file system has no nameless files, with a moment in which it is empty.
Status make_file(int directory, const std::string& name, const Placeholder& placeholder) {
  const mode_t mode = placeholder.mode == 0 ? 0644 : placeholder.mode;
  const UniqueFd nameless(::openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
  if (nameless) {
    RETURN_IF_ERROR(fill(directory, nameless, placeholder));
    const std::string handle = "/proc/self/fd/" + std::to_string(nameless.get());
    if (::linkat(AT_FDCWD, handle.c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)
      return {};
  }
  const UniqueFd file(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) return errno == EEXIST ? Status() : cannot_make(placeholder);
  return fill(directory, file, placeholder);
}

Status make(const Placeholder& placeholder) {
  const std::string parent = domain::parent_of(placeholder.path);
  const std::string name(domain::name_of(placeholder.path));
  const UniqueFd directory = open_without_links(parent, O_RDONLY | O_DIRECTORY);
  if (!directory) return Error::from_errno(errno, "open " + parent + ", to protect " + placeholder.path);
  if (!placeholder.is_directory) return make_file(directory.get(), name, placeholder);
  const mode_t mode = placeholder.mode == 0 ? 0755 : placeholder.mode;
  if (::mkdirat(directory.get(), name.c_str(), mode) != 0) return errno == EEXIST ? Status() : cannot_make(placeholder);
  const UniqueFd made(::openat(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (made) give_to_owner(directory.get(), made.get());
  return {};
}

bool is_empty_directory(int directory) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, decltype(&::closedir)> stream(again < 0 ? nullptr : ::fdopendir(again), &::closedir);
  if (!stream) return false;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") return false;
  }
  return true;
}

// True when it is as it was made.
bool untouched(int file, const Placeholder& placeholder) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return false;
  if (placeholder.is_directory) return S_ISDIR(status.st_mode) && is_empty_directory(file);
  if (S_ISREG(status.st_mode) && status.st_size == 0) return true;  // its run died before it wrote
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) != placeholder.content.size()) return false;
  const auto content = system::read_up_to(file, placeholder.content.size());
  return content && *content == placeholder.content;
}

UniqueFd open_placeholder(int directory, const Placeholder& placeholder) {
  const std::string name(domain::name_of(placeholder.path));
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (placeholder.is_directory ? O_DIRECTORY : 0);
  return UniqueFd(::openat(directory, name.c_str(), flags));
}

// True when it is gone or must stay for good; false when another run uses it.
bool remove(const Placeholder& placeholder) {
  const UniqueFd directory = open_without_links(domain::parent_of(placeholder.path), O_RDONLY | O_DIRECTORY);
  if (!directory) return true;
  const UniqueFd entry = open_placeholder(directory.get(), placeholder);
  if (!entry || !untouched(entry.get(), placeholder)) return true;
  if (::flock(entry.get(), LOCK_EX | LOCK_NB) != 0) return false;
  const std::string name(domain::name_of(placeholder.path));
  // Of a directory it fails when somebody has filled it.
  ::unlinkat(directory.get(), name.c_str(), placeholder.is_directory ? AT_REMOVEDIR : 0);
  return true;
}

}  // namespace

Status make_placeholders(const std::vector<Placeholder>& placeholders) {
  for (const Placeholder& placeholder : placeholders) RETURN_IF_ERROR(make(placeholder));
  return {};
}

std::vector<Placeholder> remove_placeholders(const std::vector<Placeholder>& placeholders) {
  std::vector<Placeholder> in_use;
  // What was made last may lie in what was made before.
  for (auto placeholder = placeholders.rbegin(); placeholder != placeholders.rend(); ++placeholder) {
    const auto holds = [&](const Placeholder& other) { return domain::is_inside(other.path, placeholder->path); };
    if (std::ranges::any_of(in_use, holds) || !remove(*placeholder)) in_use.push_back(*placeholder);
  }
  std::ranges::reverse(in_use);
  return in_use;
}

std::vector<std::string> untouched_placeholders(const std::vector<Placeholder>& placeholders) {
  std::vector<std::string> paths;
  for (const Placeholder& placeholder : placeholders) {
    const UniqueFd directory = open_without_links(domain::parent_of(placeholder.path), O_RDONLY | O_DIRECTORY);
    const UniqueFd entry = directory ? open_placeholder(directory.get(), placeholder) : UniqueFd();
    if (entry && untouched(entry.get(), placeholder)) paths.push_back(placeholder.path);
  }
  return paths;
}

}  // namespace cofferdam::control
