// Work on trees that somebody else may write while we do: everything is reached from a directory descriptor, no
// symbolic link is followed, nothing outside the directory can be reached (openat2 with RESOLVE_BENEATH).
//
// A `path` here is relative to the root, its names separated by single slashes; names are bytes.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace cofferdam::system {

// What tells that a file is still the one that was looked at.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  // type and permission bits
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const struct stat& status);
Result<FileIdentity> identity_of(int fd);

// A directory by a path of ours or the user's; the last component may be a link, as with cd.
Result<UniqueFd> open_directory(const std::string& path);

// Opens `path` beneath `root`. O_CLOEXEC, O_NOFOLLOW and O_NONBLOCK are added: a FIFO put in the place of a file
// cannot hold us. The caller checks the kind of what it got. "" opens the root itself.
Result<UniqueFd> open_beneath(int root, const std::string& path, int flags, unsigned mode = 0);

// The directory that holds the last name of `path`, and that name.
struct Parent {
  UniqueFd directory;
  std::string name;
};
Result<Parent> open_parent(int root, const std::string& path);

// Makes every missing directory of `path` with `mode`. kFailedPrecondition when something else is in the way.
Status make_directories_beneath(int root, const std::string& path, unsigned mode);

// lstat beneath the root; kNotFound when it is absent.
Result<struct stat> status_beneath(int root, const std::string& path);

// The target of the symbolic link `name` in `directory`; at most 4,095 bytes.
Result<std::string> read_link_at(int directory, const std::string& name);

// The names in a directory, without "." and "..", sorted bytewise.
Result<std::vector<std::string>> names_in(int directory);

// Removes `name` in `directory` and everything below it, never through a link and never on another file system.
// Directories of our own that were made read-only are opened first. An absent name is success.
Status remove_tree_at(int directory, const std::string& name);

// fsync of a directory or file, with its name in the error.
Status synchronise(int fd, std::string_view what);

// The last name of `path`, and what is before it ("" at the root).
std::string_view parent_path(std::string_view path);
std::string_view base_name(std::string_view path);

// A directory of ours that is removed, with all it holds, when its owner goes.
class TemporaryDirectory {
 public:
  // Mode 0700, below `parent`; its name begins with `prefix`.
  static Result<TemporaryDirectory> create(const std::string& parent, std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  int fd() const { return directory_.get(); }
  // Leaves the directory where it is; the caller now owns it.
  std::string keep() &&;

 private:
  TemporaryDirectory(std::string path, UniqueFd parent, UniqueFd directory)
      : path_(std::move(path)), parent_(std::move(parent)), directory_(std::move(directory)) {}
  void remove();

  std::string path_;  // empty once moved from or kept
  UniqueFd parent_;
  UniqueFd directory_;
};

}  // namespace cofferdam::system
