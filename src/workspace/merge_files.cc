#include "workspace/merge_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "crypto/sha256.h"
#include "system/file.h"
#include "system/tree.h"
#include "workspace/holes.h"

namespace cofferdam::workspace {
namespace {

constexpr std::uint32_t kPermissions = 0777;
constexpr std::uint32_t kSpecialModes = 07000;
constexpr std::uint32_t kOwnerAll = 0700;
constexpr std::size_t kBlock = std::size_t{128} << 10;

int rename_at2(const Place& from, const Place& to, unsigned flags) {
  return static_cast<int>(
      ::syscall(SYS_renameat2, from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags));
}

Error rename_error(int error_number, const std::string& what) {
  if (error_number != EINVAL && error_number != ENOSYS) return Error::from_errno(error_number, what);
  return Error(ErrorCode::kUnsupported, what + ": this file system cannot rename without replacing, or swap two names")
      .with_hint("Keep the workspace on a local file system (ext4, xfs, btrfs, tmpfs).");
}

Result<std::size_t> read_block(int file, std::vector<char>& block) {
  while (true) {
    const ssize_t count = ::read(file, block.data(), block.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Error::from_errno(errno, "read a file");
  }
}

struct Content {
  std::uint64_t size = 0;
  Digest digest;
};

// Reads `in` to its end; what is read goes to `out` unless that is -1.
Result<Content> read_content(int in, int out) {
  Content content;
  crypto::Sha256 hash;
  std::vector<char> block(kBlock);
  while (true) {
    ASSIGN_OR_RETURN(const std::size_t count, read_block(in, block));
    if (count == 0) break;
    const std::string_view bytes(block.data(), count);
    hash.update(bytes);
    content.size += count;
    if (out >= 0) RETURN_IF_ERROR(write_with_holes(out, bytes));
  }
  content.digest = hash.finish();
  return content;
}

Result<Content> copy_content(int in, int out) {
  if (::ioctl(out, FICLONE, in) == 0) return read_content(out, -1);
  ASSIGN_OR_RETURN(const Content content, read_content(in, out));
  RETURN_IF_ERROR(end_with_holes(out, content.size));
  return content;
}

Error changed_in_sandbox(const std::string& path) {
  return Error(ErrorCode::kFailedPrecondition, printable(path) + " changed in the sandbox while it was brought home")
      .with_hint("Something in the sandbox is still writing. Stop it and bring the results home again.");
}

Status prepare_file(int source, const Entry& entry, const Place& to, bool durable) {
  ASSIGN_OR_RETURN(const UniqueFd in, system::open_beneath(source, entry.path, O_RDONLY));
  ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(in.get()));
  if (!S_ISREG(identity.mode)) return changed_in_sandbox(entry.path);
  const UniqueFd out(::openat(to.directory, to.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return Error::from_errno(errno, "make a copy of " + printable(entry.path));
  ASSIGN_OR_RETURN(const Content content, in_context(copy_content(in.get(), out.get()), printable(entry.path)));
  if (content.size != entry.size || content.digest != entry.digest) return changed_in_sandbox(entry.path);
  if (::fchmod(out.get(), entry.mode & kPermissions) != 0) {
    return Error::from_errno(errno, "set the mode of " + printable(entry.path));
  }
  return durable ? system::synchronise(out.get(), entry.path) : Status();
}

Status prepare_link(const Entry& entry, const Place& to) {
  if (::symlinkat(entry.target.c_str(), to.directory, to.name.c_str()) == 0) return {};
  return Error::from_errno(errno, "make the link " + printable(entry.path));
}

// mkdir honours the umask and passes on a set-group-id bit: the mode is set again.
Status prepare_directory(const Entry& entry, const Place& to) {
  if (::mkdirat(to.directory, to.name.c_str(), kOwnerAll) != 0) {
    return Error::from_errno(errno, "make the directory " + printable(entry.path));
  }
  const std::uint32_t mode = (entry.mode & kPermissions) | kOwnerAll;
  if (::fchmodat(to.directory, to.name.c_str(), mode, 0) == 0) return {};
  return Error::from_errno(errno, "set the mode of " + printable(entry.path));
}

Result<Entry> read_file_entry(const Place& place, Entry entry) {
  const UniqueFd file(::openat(place.directory, place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "open " + printable(entry.path));
  ASSIGN_OR_RETURN(const Content content, in_context(read_content(file.get(), -1), printable(entry.path)));
  entry.size = content.size;
  entry.digest = content.digest;
  return entry;
}

}  // namespace

Result<std::optional<struct stat>> look_at(const Place& place) {
  struct stat status{};
  if (::fstatat(place.directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return std::optional(status);
  if (errno == ENOENT) return std::optional<struct stat>();
  return Error::from_errno(errno, "look at " + printable(place.name));
}

Result<bool> rename_to_free(const Place& from, const Place& to) {
  if (rename_at2(from, to, RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  return rename_error(errno, "rename to " + printable(to.name));
}

Status exchange(const Place& left, const Place& right) {
  if (rename_at2(left, right, RENAME_EXCHANGE) == 0) return {};
  return rename_error(errno, "put a new version in the place of " + printable(right.name));
}

Result<std::optional<Entry>> read_entry(const Place& place, const std::string& path) {
  ASSIGN_OR_RETURN(const auto status, look_at(place));
  if (!status) return std::optional<Entry>();
  Entry entry{.path = path, .mode = status->st_mode & kPermissions};
  if (S_ISDIR(status->st_mode)) {
    entry.kind = EntryKind::kDirectory;
    return std::optional(std::move(entry));
  }
  if (S_ISLNK(status->st_mode)) {
    entry.kind = EntryKind::kSymlink;
    ASSIGN_OR_RETURN(entry.target, system::read_link_at(place.directory, place.name));
    return std::optional(std::move(entry));
  }
  if (!S_ISREG(status->st_mode)) return std::optional<Entry>();
  ASSIGN_OR_RETURN(entry, read_file_entry(place, std::move(entry)));
  return std::optional(std::move(entry));
}

Result<std::optional<Prepared>> identify(const Place& place) {
  ASSIGN_OR_RETURN(const auto status, look_at(place));
  if (!status) return std::optional<Prepared>();
  const system::FileIdentity identity = system::identity_of(*status);
  // The size and time of a directory change with what is put into it.
  if (S_ISDIR(status->st_mode)) return std::optional(Prepared{.inode = identity.inode});
  return std::optional(Prepared{.inode = identity.inode, .size = identity.size, .mtime_ns = identity.mtime_ns});
}

Status prepare(int source, const Entry& entry, const Place& to, bool durable) {
  switch (entry.kind) {
    case EntryKind::kDirectory:
      return prepare_directory(entry, to);
    case EntryKind::kSymlink:
      return prepare_link(entry, to);
    case EntryKind::kFile:
      return prepare_file(source, entry, to, durable);
  }
  return {};
}

Status give_to_owner_of(const struct stat& like, const Place& place) {
  if (::geteuid() != 0 || like.st_uid == 0) return {};
  constexpr int kNoFollow = AT_SYMLINK_NOFOLLOW;
  if (::fchownat(place.directory, place.name.c_str(), like.st_uid, like.st_gid, kNoFollow) == 0) return {};
  return Error::from_errno(errno, "set the owner of " + printable(place.name));
}

// fchmod refuses a descriptor that was opened without permission to read; its name below /proc does not.
Status change_mode(const Place& place, std::uint32_t mode) {
  const UniqueFd file(::openat(place.directory, place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "open " + printable(place.name));
  ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(file.get()));
  if (!S_ISREG(identity.mode) && !S_ISDIR(identity.mode)) {
    return Error(ErrorCode::kFailedPrecondition, printable(place.name) + " is neither a file nor a directory");
  }
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  if (::chmod(name.c_str(), (identity.mode & kSpecialModes) | (mode & kPermissions)) != 0) {
    return Error::from_errno(errno, "set the mode of " + printable(place.name));
  }
  return {};
}

}  // namespace cofferdam::workspace
