#include "system/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/strings.h"

namespace cofferdam::system {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::size_t kLongestLink = 4095;
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

int open_at2(int root, const char* path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  if ((flags & O_PATH) != 0) how.flags &= ~static_cast<std::uint64_t>(O_NONBLOCK);
  how.mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  while (true) {
    const auto fd = static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
    // EAGAIN: something was renamed while the kernel looked; it asks to be asked again.
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return fd;
  }
}

struct DirectoryCloser {
  void operator()(DIR* stream) const { ::closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, DirectoryCloser>;

// The stream owns a descriptor of its own, so that the caller's keeps its position and life.
Result<DirectoryStream> open_stream(int directory) {
  UniqueFd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return Error::from_errno(errno, "open a directory for listing");
  DirectoryStream stream(::fdopendir(own.get()));
  if (stream == nullptr) return Error::from_errno(errno, "list a directory");
  (void)own.release();
  return stream;
}

bool is_dots(std::string_view name) {
  return name == "." || name == "..";
}

Status remove_in(int directory, const std::string& name, std::uint64_t device);

Status empty_directory(int directory, std::uint64_t device) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(directory));
  for (const std::string& name : names) RETURN_IF_ERROR(remove_in(directory, name, device));
  return {};
}

UniqueFd open_for_removal(int directory, const std::string& name) {
  UniqueFd child(::openat(directory, name.c_str(), kDirectoryFlags));
  if (child || errno != EACCES) return child;
  // A directory that its own mode closes; only its owner can do this, and a link is refused.
  if (::fchmodat(directory, name.c_str(), S_IRWXU, 0) != 0) return child;
  return UniqueFd(::openat(directory, name.c_str(), kDirectoryFlags));
}

Status remove_in(int directory, const std::string& name, std::uint64_t device) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return Error::from_errno(errno, "remove " + printable(name));
  const UniqueFd child = open_for_removal(directory, name);
  if (!child) return Error::from_errno(errno, "open " + printable(name) + " to remove it");
  struct stat status{};
  if (::fstat(child.get(), &status) != 0) return Error::from_errno(errno, "look at " + printable(name));
  if (status.st_dev != device) {
    return Error(ErrorCode::kFailedPrecondition, printable(name) + " is another file system: not removed");
  }
  if ((status.st_mode & S_IRWXU) != S_IRWXU) (void)::fchmod(child.get(), S_IRWXU);
  RETURN_IF_ERROR(in_context(empty_directory(child.get(), device), printable(name)));
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return Error::from_errno(errno, "remove the directory " + printable(name));
  }
  return {};
}

}  // namespace

FileIdentity identity_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .mode = status.st_mode,
          .size = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = nanoseconds(status.st_mtim),
          .ctime_ns = nanoseconds(status.st_ctim)};
}

Result<FileIdentity> identity_of(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return Error::from_errno(errno, "look at an open file");
  return identity_of(status);
}

Result<UniqueFd> open_directory(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Error::from_errno(errno, "open the directory " + printable(path));
  return directory;
}

Result<UniqueFd> open_beneath(int root, const std::string& path, int flags, unsigned mode) {
  UniqueFd file(open_at2(root, path.empty() ? "." : path.c_str(), flags, mode));
  if (!file) return Error::from_errno(errno, "open " + printable(path));
  return file;
}

Result<Parent> open_parent(int root, const std::string& path) {
  ASSIGN_OR_RETURN(UniqueFd directory, open_beneath(root, std::string(parent_path(path)), O_RDONLY | O_DIRECTORY));
  return Parent{std::move(directory), std::string(base_name(path))};
}

Status make_directories_beneath(int root, const std::string& path, unsigned mode) {
  if (path.empty()) return {};
  // The common case first: everything but perhaps the last name is there.
  ASSIGN_OR_RETURN(UniqueFd directory, open_beneath(root, "", O_RDONLY | O_DIRECTORY));
  for (const std::string_view piece : split(path, '/')) {
    const std::string name(piece);
    if (::mkdirat(directory.get(), name.c_str(), mode) != 0 && errno != EEXIST) {
      return Error::from_errno(errno, "make the directory " + printable(path));
    }
    auto next = open_beneath(directory.get(), name, O_RDONLY | O_DIRECTORY);
    if (!next) {
      return Error(ErrorCode::kFailedPrecondition,
                   "cannot make the directory " + printable(path) + ": " + printable(name) + " is no directory");
    }
    directory = std::move(*next);
  }
  return {};
}

Result<struct stat> status_beneath(int root, const std::string& path) {
  struct stat status{};
  if (path.empty()) {
    if (::fstat(root, &status) != 0) return Error::from_errno(errno, "look at the root");
    return status;
  }
  ASSIGN_OR_RETURN(const Parent parent, open_parent(root, path));
  if (::fstatat(parent.directory.get(), parent.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno(errno, "look at " + printable(path));
  }
  return status;
}

Result<std::string> read_link_at(int directory, const std::string& name) {
  char target[kLongestLink + 1];
  const ssize_t length = ::readlinkat(directory, name.c_str(), target, sizeof target);
  if (length < 0) return Error::from_errno(errno, "read the link " + printable(name));
  if (static_cast<std::size_t>(length) > kLongestLink) {
    return Error(ErrorCode::kResourceExhausted, "the target of the link " + printable(name) + " is too long");
  }
  return std::string(target, static_cast<std::size_t>(length));
}

Result<std::vector<std::string>> names_in(int directory) {
  ASSIGN_OR_RETURN(const DirectoryStream stream, open_stream(directory));
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    if (!is_dots(entry->d_name)) names.emplace_back(entry->d_name);
  }
  if (errno != 0) return Error::from_errno(errno, "list a directory");
  std::ranges::sort(names);
  return names;
}

Status remove_tree_at(int directory, const std::string& name) {
  struct stat status{};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return Error::from_errno(errno, "look at " + printable(name));
  }
  return remove_in(directory, name, status.st_dev);
}

Status synchronise(int fd, std::string_view what) {
  if (::fsync(fd) != 0) return Error::from_errno(errno, "synchronise " + printable(what));
  return {};
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& parent, std::string_view prefix) {
  ASSIGN_OR_RETURN(UniqueFd parent_directory, open_directory(parent));
  std::string path = parent + "/" + std::string(prefix) + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return Error::from_errno(errno, "make a directory in " + printable(parent));
  ASSIGN_OR_RETURN(UniqueFd directory, open_directory(path));
  return TemporaryDirectory(std::move(path), std::move(parent_directory), std::move(directory));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      parent_(std::move(other.parent_)),
      directory_(std::move(other.directory_)) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    parent_ = std::move(other.parent_);
    directory_ = std::move(other.directory_);
  }
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  remove();
}

void TemporaryDirectory::remove() {
  if (!path_.empty()) (void)remove_tree_at(parent_.get(), std::string(base_name(path_)));
}

std::string TemporaryDirectory::keep() && {
  return std::exchange(path_, {});
}

}  // namespace cofferdam::system
