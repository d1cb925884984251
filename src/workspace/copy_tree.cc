#include "workspace/copy_tree.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <utility>

#include "base/strings.h"
#include "system/parallel.h"
#include "system/tree.h"
#include "workspace/file_time.h"
#include "workspace/stable_read.h"
#include "workspace/walk.h"

namespace cofferdam::workspace {
namespace {

constexpr unsigned kPrivateDirectory = 0700;
constexpr unsigned kPrivateFile = 0600;
constexpr std::size_t kCopyAtOnce = std::size_t{1} << 30;

Status set_mode_and_time(int file, const Entry& entry) {
  if (::fchmod(file, entry.mode) != 0) return Error::from_errno(errno, "set the mode of " + printable(entry.path));
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(entry.mtime_ns)};
  if (::futimens(file, times) != 0) return Error::from_errno(errno, "set the time of " + printable(entry.path));
  return {};
}

// Copies `length` bytes at `offset` within the kernel; false when the file ended before.
Result<bool> copy_range(int from, int to, off_t offset, off_t length) {
  off_t in = offset;
  off_t out = offset;
  while (length > 0) {
    const ssize_t count =
        ::copy_file_range(from, &in, to, &out, std::min<std::size_t>(static_cast<std::size_t>(length), kCopyAtOnce), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "copy");
    if (count == 0) return false;
    length -= count;
  }
  return true;
}

// The regions that hold data, one after another; holes stay holes.
Result<bool> copy_data(int from, int to, std::uint64_t size) {
  if (::ftruncate(to, static_cast<off_t>(size)) != 0) return Error::from_errno(errno, "make room");
  const auto end = static_cast<off_t>(size);
  for (off_t at = 0; at < end;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? Result<bool>(true) : Error::from_errno(errno, "find data");
    const off_t hole = std::min(::lseek(from, data, SEEK_HOLE), end);
    if (hole <= data) return false;
    ASSIGN_OR_RETURN(const bool whole, copy_range(from, to, data, hole - data));
    if (!whole) return false;
    at = hole;
  }
  return true;
}

class TreeCopier {
 public:
  TreeCopier(int source, int target) : source_(source), target_(target), privileged_(::geteuid() == 0) {}

  Result<CopyReport> copy(Walk walk, unsigned threads) {
    RETURN_IF_ERROR(make_directories(walk));
    RETURN_IF_ERROR(copy_files(walk, threads));
    RETURN_IF_ERROR(finish(walk));
    report_.reflinked = reflinked_;
    report_.omissions = std::move(walk.omissions);
    return std::move(report_);
  }

 private:
  Status make_directories(const Walk& walk) const {
    for (const Seen& seen : walk.seen) {
      if (seen.entry.kind != EntryKind::kDirectory) continue;
      if (::mkdirat(target_, seen.entry.path.c_str(), kPrivateDirectory) != 0) return failed("make", seen.entry);
    }
    return {};
  }

  // Of several names of one file the first is copied, the others are linked to it afterwards.
  Status copy_files(Walk& walk, unsigned threads) {
    std::vector<const Seen*> first;
    for (const Seen& seen : walk.seen) {
      if (seen.entry.kind != EntryKind::kFile) continue;
      const auto [place, fresh] = names_.emplace(std::pair(seen.identity.device, seen.identity.inode), &seen);
      if (fresh) {
        first.push_back(&seen);
        report_.bytes += seen.entry.size;
      } else {
        further_.emplace_back(place->second, &seen);
      }
      ++report_.files;
    }
    RETURN_IF_ERROR(
        system::for_each_parallel(first.size(), threads, [&](std::size_t i) { return copy_file(*first[i]); }));
    for (const auto& [original, name] : further_) RETURN_IF_ERROR(link_to(original->entry, name->entry));
    return {};
  }

  Status copy_file(const Seen& seen) {
    for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
      ASSIGN_OR_RETURN(const bool done, in_context(try_copy(seen), printable(seen.entry.path)));
      if (done) return {};
    }
    return changed_while_read(seen.entry.path);
  }

  // False when the source changed meanwhile. A source that vanished is done.
  Result<bool> try_copy(const Seen& seen) {
    auto from = system::open_beneath(source_, seen.entry.path, O_RDONLY);
    if (!from) {
      if (from.error().code() == ErrorCode::kNotFound) return true;
      return std::move(from.error());
    }
    ASSIGN_OR_RETURN(const system::FileIdentity before, system::identity_of(from->get()));
    if (!S_ISREG(before.mode)) return true;
    ASSIGN_OR_RETURN(const UniqueFd to,
                     system::open_beneath(target_, seen.entry.path, O_WRONLY | O_CREAT | O_TRUNC, kPrivateFile));
    ASSIGN_OR_RETURN(const bool whole, copy_content(from->get(), to.get(), before.size));
    ASSIGN_OR_RETURN(const system::FileIdentity after, system::identity_of(from->get()));
    if (!whole || before != after) return false;
    Entry entry = seen.entry;
    entry.mode = before.mode & kPermissionBits;
    entry.mtime_ns = before.mtime_ns;
    RETURN_IF_ERROR(take_owner(to.get(), entry.path, from->get()));
    RETURN_IF_ERROR(set_mode_and_time(to.get(), entry));
    return true;
  }

  Result<bool> copy_content(int from, int to, std::uint64_t size) {
    if (::ioctl(to, FICLONE, from) == 0) {
      reflinked_ = true;
      return true;
    }
    return copy_data(from, to, size);
  }

  Status take_owner(int to, const std::string& path, int from) const {
    if (!privileged_) return {};
    struct stat status{};
    if (::fstat(from, &status) != 0 || ::fchown(to, status.st_uid, status.st_gid) != 0) {
      return Error::from_errno(errno, "give " + printable(path) + " its owner");
    }
    return {};
  }

  Status link_to(const Entry& original, const Entry& name) const {
    if (::linkat(target_, original.path.c_str(), target_, name.path.c_str(), 0) == 0 || errno == ENOENT) return {};
    return failed("link", name);
  }

  // Links, then directories, deepest first: what is made in them changes their times, and their modes may close them.
  Status finish(const Walk& walk) const {
    for (const Seen& seen : walk.seen) {
      if (seen.entry.kind == EntryKind::kSymlink) RETURN_IF_ERROR(make_link(seen.entry));
    }
    for (auto it = walk.seen.rbegin(); it != walk.seen.rend(); ++it) {
      if (it->entry.kind == EntryKind::kDirectory) RETURN_IF_ERROR(finish_directory(it->entry));
    }
    return finish_directory({.path = "", .kind = EntryKind::kDirectory, .target = {}});
  }

  Status make_link(const Entry& entry) const {
    if (::symlinkat(entry.target.c_str(), target_, entry.path.c_str()) != 0) return failed("make", entry);
    struct stat status{};
    if (privileged_ && ::fstatat(source_, entry.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      (void)::fchownat(target_, entry.path.c_str(), status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW);
    }
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(entry.mtime_ns)};
    (void)::utimensat(target_, entry.path.c_str(), times, AT_SYMLINK_NOFOLLOW);
    return {};
  }

  Status finish_directory(Entry entry) const {
    ASSIGN_OR_RETURN(const UniqueFd to, system::open_beneath(target_, entry.path, O_RDONLY | O_DIRECTORY));
    const auto from = system::open_beneath(source_, entry.path, O_RDONLY | O_DIRECTORY);
    if (!from) return {};  // it vanished from the source meanwhile
    ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(from->get()));
    entry.mode = identity.mode & kPermissionBits;
    entry.mtime_ns = identity.mtime_ns;
    RETURN_IF_ERROR(take_owner(to.get(), entry.path, from->get()));
    return set_mode_and_time(to.get(), entry);
  }

  static Error failed(std::string_view what, const Entry& entry) {
    return Error::from_errno(errno, std::string(what) + " the copy of " + printable(entry.path));
  }

  const int source_;
  const int target_;
  const bool privileged_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, const Seen*> names_;
  std::vector<std::pair<const Seen*, const Seen*>> further_;
  std::atomic<bool> reflinked_ = false;
  CopyReport report_;
};

}  // namespace

Result<CopyReport> copy_tree(int source, int target, const PathSet& exclude, unsigned threads) {
  WalkOptions options;
  options.exclude = exclude;
  ASSIGN_OR_RETURN(Walk walk, walk_tree(source, options));
  return TreeCopier(source, target).copy(std::move(walk), threads);
}

}  // namespace cofferdam::workspace
