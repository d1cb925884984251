#include "control/placeholders.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "domain/path.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

using confinement::Mount;
using confinement::Placeholder;

// No component may be a link: the parents lie in a tree that a run may have written.
UniqueFd open_without_links(const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

Status make(const Placeholder& placeholder) {
  const std::string parent = domain::parent_of(placeholder.path);
  const std::string name(domain::name_of(placeholder.path));
  const UniqueFd directory = open_without_links(parent, O_RDONLY | O_DIRECTORY);
  if (!directory) return Error::from_errno(errno, "open " + parent);
  if (placeholder.is_directory) {
    if (::mkdirat(directory.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
      return Error::from_errno(errno, "make a placeholder for the protected " + placeholder.path);
    }
  } else {
    const UniqueFd file(
        ::openat(directory.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file && errno != EEXIST) {
      return Error::from_errno(errno, "make a placeholder for the protected " + placeholder.path);
    }
    if (file) RETURN_IF_ERROR(in_context(system::write_all(file.get(), placeholder.content), placeholder.path));
  }
  // A run started by root gives it to the owner of the tree.
  struct stat status{};
  if (::geteuid() == 0 && ::fstat(directory.get(), &status) == 0) {
    (void)!::fchownat(directory.get(), name.c_str(), status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW);
  }
  return {};
}

// Empty: the run that made it did not come to writing it.
bool is_as_made(int file, const struct stat& status, const Placeholder& placeholder) {
  if (status.st_size == 0) return true;
  if (static_cast<std::size_t>(status.st_size) != placeholder.content.size()) return false;
  const auto content = system::read_up_to(file, placeholder.content.size());
  return content && *content == placeholder.content;
}

// True when it is gone or must stay for good; false when another run uses it.
bool remove(const Placeholder& placeholder) {
  const UniqueFd directory = open_without_links(domain::parent_of(placeholder.path), O_RDONLY | O_DIRECTORY);
  if (!directory) return true;
  const std::string name(domain::name_of(placeholder.path));
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (placeholder.is_directory ? O_DIRECTORY : 0);
  const UniqueFd entry(::openat(directory.get(), name.c_str(), flags));
  struct stat status{};
  if (!entry || ::fstat(entry.get(), &status) != 0) return true;
  if (::flock(entry.get(), LOCK_EX | LOCK_NB) != 0) return false;
  if (placeholder.is_directory) {
    ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR);  // fails when somebody has filled it
  } else if (S_ISREG(status.st_mode) && is_as_made(entry.get(), status, placeholder)) {
    ::unlinkat(directory.get(), name.c_str(), 0);
  }
  return true;
}

}  // namespace

Status make_placeholders(const std::vector<Placeholder>& placeholders) {
  for (const Placeholder& placeholder : placeholders) RETURN_IF_ERROR(make(placeholder));
  return {};
}

std::vector<UniqueFd> lock_protected(const confinement::ConfinementPlan& plan) {
  std::vector<UniqueFd> locks;
  const auto lock = [&](const std::string& path) {
    UniqueFd entry = open_without_links(path, O_RDONLY | O_NONBLOCK);
    if (entry && ::flock(entry.get(), LOCK_SH | LOCK_NB) == 0) locks.push_back(std::move(entry));
  };
  for (const Mount& mount : plan.mounts) {
    if (mount.kind == Mount::Kind::kReadOnly && domain::is_inside(mount.target, plan.workspace)) lock(mount.source);
  }
  for (const Placeholder& placeholder : plan.placeholders) {
    if (!placeholder.is_directory) lock(placeholder.path);
  }
  return locks;
}

std::vector<Placeholder> remove_placeholders(const std::vector<Placeholder>& placeholders) {
  std::vector<Placeholder> in_use;
  for (const Placeholder& placeholder : placeholders) {
    if (!remove(placeholder)) in_use.push_back(placeholder);
  }
  return in_use;
}

}  // namespace cofferdam::control
