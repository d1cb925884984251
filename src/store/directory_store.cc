// Objects as files. An object is written to a file of its own in TMP, which its writer keeps locked (flock) while it
// lives: a file there that nobody locks belongs to a dead writer. Keys have no upper-case letter, so none is below TMP.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "crypto/seal.h"
#include "store/object_store.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::store {
namespace {

constexpr const char* kTemporary = "TMP";
constexpr unsigned kDirectoryMode = 0700;
constexpr unsigned kFileMode = 0600;
constexpr std::size_t kTemporaryNameBytes = 16;
constexpr std::uint64_t kWritebackStep = std::uint64_t{8} << 20;
constexpr std::uint64_t kLongObject = std::uint64_t{64} << 20;

// The store's directory; shared by the store and its writers, whoever lives longer.
struct Folder {
  std::string path;
  UniqueFd root;
  UniqueFd temporary;
};

std::string place_of(const Folder& folder, const std::string& key) {
  return printable(folder.path + "/" + key);
}

Error errno_error(int error_number, std::string what) {
  Error error = Error::from_errno(error_number, what);
  if (error_number != ENOSPC && error_number != EDQUOT) return error;
  return std::move(error).with_hint("Free space where the store lies, or prune snapshots, then repeat the command.");
}

Error not_found(const Folder& folder, const std::string& key) {
  return {ErrorCode::kNotFound, "no object " + place_of(folder, key)};
}

// --- writing

// Makes the directories of `key`.
Status make_places(const Folder& folder, const std::string& key) {
  return in_context(
      system::make_directories_beneath(folder.root.get(), std::string(system::parent_path(key)), kDirectoryMode),
      folder.path);
}

// Every directory from the object's up to the root: another process may have made one a moment ago and not have
// synchronised it yet.
Status synchronise_places(const Folder& folder, const std::string& key) {
  std::string directory = key;
  do {
    directory = std::string(system::parent_path(directory));
    ASSIGN_OR_RETURN(const UniqueFd fd, system::open_beneath(folder.root.get(), directory, O_RDONLY | O_DIRECTORY));
    RETURN_IF_ERROR(system::synchronise(fd.get(), place_of(folder, directory)));
  } while (!directory.empty());
  return {};
}

// 0, or the errno. Never replaces what is at the new name.
int rename_to_new(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // File systems that lack the flag (NFS among them) have the older way.
  if (::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) != 0) return errno;
  ::unlinkat(from_directory, from.c_str(), 0);
  return 0;
}

class FileWriter final : public ObjectWriter {
 public:
  FileWriter(std::shared_ptr<const Folder> folder, std::string key, std::string temporary_name, UniqueFd file)
      : folder_(std::move(folder)),
        key_(std::move(key)),
        temporary_name_(std::move(temporary_name)),
        file_(std::move(file)) {}

  ~FileWriter() override {
    if (file_) ::unlinkat(folder_->temporary.get(), temporary_name_.c_str(), 0);
  }

  Status append(std::string_view bytes) override {
    RETURN_IF_ERROR(check_usable());
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed(errno, "write");
      bytes.remove_prefix(static_cast<std::size_t>(count));
      written_ += static_cast<std::uint64_t>(count);
    }
    begin_writeback();
    return {};
  }

  Status commit() override {
    RETURN_IF_ERROR(check_usable());
    if (::fdatasync(file_.get()) != 0) return failed(errno, "synchronise");
    RETURN_IF_ERROR(make_places(*folder_, key_));
    ASSIGN_OR_RETURN(const system::Parent place, system::open_parent(folder_->root.get(), key_));
    const int error_number =
        rename_to_new(folder_->temporary.get(), temporary_name_, place.directory.get(), place.name);
    if (error_number == EEXIST) {
      return Error(ErrorCode::kAlreadyExists, "the object " + place_of(*folder_, key_) + " exists");
    }
    if (error_number != 0) return failed(error_number, "rename to");
    let_go();
    file_.reset();
    Status durable = synchronise_places(*folder_, key_);
    if (!durable) ::unlinkat(place.directory.get(), place.name.c_str(), 0);
    return durable;
  }

 private:
  // The disk works while the next bytes are made, instead of all at once when the object is complete. Only a hint:
  // commit() synchronises, and hears of failures.
  void begin_writeback() {
    if (written_ - begun_ < kWritebackStep) return;
    ::sync_file_range(file_.get(), static_cast<off_t>(begun_), static_cast<off_t>(written_ - begun_),
                      SYNC_FILE_RANGE_WRITE);
    begun_ = written_;
  }

  // Nobody reads a long object soon; its pages are better used for what is written next.
  void let_go() const {
    if (written_ >= kLongObject) ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
  }

  // After a failed write the file has a hole, and after a failed fdatasync the kernel has forgotten what it lost.
  Error failed(int error_number, const char* action) {
    broken_ = true;
    return errno_error(error_number, action + (" the object " + place_of(*folder_, key_)));
  }

  Status check_usable() const {
    if (file_ && !broken_) return {};
    return Error(ErrorCode::kFailedPrecondition,
                 "the object " + place_of(*folder_, key_) + (broken_ ? " failed before" : " is complete already"));
  }

  std::shared_ptr<const Folder> folder_;
  std::string key_;
  std::string temporary_name_;
  UniqueFd file_;  // locked; closed once the object has its name
  bool broken_ = false;
  std::uint64_t written_ = 0;  // bytes
  std::uint64_t begun_ = 0;    // of them, on their way to the disk
};

// A new locked file in TMP; nothing when a sweep took it for a dead writer's between its making and its lock.
Result<std::optional<UniqueFd>> try_make_temporary(const Folder& folder, const std::string& name) {
  UniqueFd file(
      ::openat(folder.temporary.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  const std::string place = place_of(folder, std::string(kTemporary) + "/" + name);
  if (!file) return errno_error(errno, "make " + place);
  if (::flock(file.get(), LOCK_EX) != 0) return errno_error(errno, "lock " + place);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return errno_error(errno, "look at " + place);
  if (status.st_nlink == 0) return std::optional<UniqueFd>();
  return std::optional(std::move(file));
}

// Removes the file if its writer is dead. Problems are left for the next sweep: they stop nobody.
void sweep_one(const Folder& folder, const std::string& name) {
  const UniqueFd file(::openat(folder.temporary.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  ::unlinkat(folder.temporary.get(), name.c_str(), 0);
}

Status sweep(const Folder& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(folder.temporary.get()));
  for (const std::string& name : names) sweep_one(folder, name);
  return {};
}

// --- reading

Result<UniqueFd> open_object(const Folder& folder, const std::string& key) {
  RETURN_IF_ERROR(check_object_key(key));
  auto file = system::open_beneath(folder.root.get(), key, O_RDONLY);
  if (!file && file.error().code() == ErrorCode::kNotFound) return not_found(folder, key);
  return in_context(std::move(file), folder.path);
}

Result<std::uint64_t> size_of(const Folder& folder, const std::string& key, const UniqueFd& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return Error::from_errno(errno, "look at " + place_of(folder, key));
  if (!S_ISREG(status.st_mode)) return not_found(folder, key);
  return static_cast<std::uint64_t>(status.st_size);
}

Error too_short(const Folder& folder, const std::string& key, std::uint64_t offset, std::uint64_t length) {
  return {ErrorCode::kDataLoss, "the object " + place_of(folder, key) + " is too short: no " + std::to_string(length) +
                                    " bytes at " + std::to_string(offset)};
}

Result<std::string> read_exactly(const Folder& folder, const std::string& key, const UniqueFd& file,
                                 std::uint64_t offset, std::uint64_t length) {
  std::string bytes(length, '\0');
  std::uint64_t done = 0;
  while (done < length) {
    const ssize_t count = ::pread(file.get(), bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read " + place_of(folder, key));
    if (count == 0) return too_short(folder, key, offset, length);
    done += static_cast<std::uint64_t>(count);
  }
  return bytes;
}

// --- listing

// Collects objects in the order of their keys. A directory sorts as its name with a slash, because that is how the
// keys below it begin: "a-b" comes before "a/b", and "a/b" before "a0".
class Listing {
 public:
  Listing(const Folder& folder, std::string prefix, std::string after, std::size_t limit)
      : folder_(folder), prefix_(std::move(prefix)), after_(std::move(after)), limit_(limit) {}

  Result<std::vector<ObjectInfo>> run() && {
    RETURN_IF_ERROR(visit(folder_.root.get(), ""));
    return std::move(found_);
  }

 private:
  struct Entry {
    std::string key;  // ends with a slash for a directory
    struct stat status{};
  };

  Status visit(int directory, const std::string& key_before) {
    ASSIGN_OR_RETURN(const std::vector<Entry> entries, entries_of(directory, key_before));
    for (const Entry& entry : entries) {
      if (found_.size() >= limit_) break;
      RETURN_IF_ERROR(take(directory, entry));
    }
    return {};
  }

  Result<std::vector<Entry>> entries_of(int directory, const std::string& key_before) const {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(directory));
    std::vector<Entry> entries;
    for (const std::string& name : names) {
      Entry entry{.key = key_before + name};
      if (!check_object_key(entry.key)) continue;  // not ours: TMP, lost+found
      if (::fstatat(directory, name.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
      if (S_ISDIR(entry.status.st_mode)) entry.key += '/';
      if (is_wanted(entry)) entries.push_back(std::move(entry));
    }
    std::ranges::sort(entries, {}, &Entry::key);
    return entries;
  }

  bool is_wanted(const Entry& entry) const {
    const std::string& key = entry.key;
    if (S_ISREG(entry.status.st_mode)) return key.starts_with(prefix_) && key > after_;
    if (!S_ISDIR(entry.status.st_mode)) return false;
    const bool may_hold_prefix = key.starts_with(prefix_) || prefix_.starts_with(key);
    return may_hold_prefix && (key > after_ || after_.starts_with(key));
  }

  Status take(int directory, const Entry& entry) {
    if (S_ISREG(entry.status.st_mode)) {
      found_.push_back({.key = entry.key,
                        .size = static_cast<std::uint64_t>(entry.status.st_size),
                        .modified_s = entry.status.st_mtim.tv_sec});
      return {};
    }
    const std::string name(system::base_name(std::string_view(entry.key).substr(0, entry.key.size() - 1)));
    const auto child = system::open_beneath(directory, name, O_RDONLY | O_DIRECTORY);
    if (!child) return child.error();
    return visit(child->get(), entry.key);
  }

  const Folder& folder_;
  std::string prefix_;
  std::string after_;
  std::size_t limit_;
  std::vector<ObjectInfo> found_;
};

class DirectoryStore final : public ObjectStore {
 public:
  explicit DirectoryStore(std::shared_ptr<const Folder> folder) : folder_(std::move(folder)) {}

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key) override {
    RETURN_IF_ERROR(check_object_key(key));
    while (true) {
      const std::string name = crypto::random_hex(kTemporaryNameBytes);
      ASSIGN_OR_RETURN(std::optional<UniqueFd> file, try_make_temporary(*folder_, name));
      if (file) return std::make_unique<FileWriter>(folder_, key, name, std::move(*file));
    }
  }

  Result<std::string> read(const std::string& key, std::uint64_t offset, std::uint64_t length) override {
    ASSIGN_OR_RETURN(const UniqueFd file, open_object(*folder_, key));
    ASSIGN_OR_RETURN(const std::uint64_t size, size_of(*folder_, key, file));
    // Before memory is taken for it: a damaged index may ask for anything.
    if (offset > size || length > size - offset) return too_short(*folder_, key, offset, length);
    return read_exactly(*folder_, key, file, offset, length);
  }

  Result<std::uint64_t> size(const std::string& key) override {
    ASSIGN_OR_RETURN(const UniqueFd file, open_object(*folder_, key));
    return size_of(*folder_, key, file);
  }

  // Durable: an object that came back after a crash would belong to nobody.
  Status remove(const std::string& key) override {
    RETURN_IF_ERROR(check_object_key(key));
    const auto place = system::open_parent(folder_->root.get(), key);
    if (!place && place.error().code() == ErrorCode::kNotFound) return {};
    if (!place) return place.error();
    if (::unlinkat(place->directory.get(), place->name.c_str(), 0) != 0) {
      if (errno == ENOENT) return {};
      return Error::from_errno(errno, "remove " + place_of(*folder_, key));
    }
    return system::synchronise(place->directory.get(), "the directory of " + place_of(*folder_, key));
  }

  Result<std::vector<ObjectInfo>> list(const std::string& prefix, const std::string& after,
                                       std::size_t limit) override {
    return in_context(Listing(*folder_, prefix, after, limit).run(), "listing " + printable(folder_->path));
  }

  std::string description() const override { return "directory " + printable(folder_->path); }

 private:
  std::shared_ptr<const Folder> folder_;
};

Result<Folder> open_folder(const std::string& path) {
  RETURN_IF_ERROR(system::make_private_directories(path));
  ASSIGN_OR_RETURN(UniqueFd root, system::open_directory(path));
  RETURN_IF_ERROR(system::make_directories_beneath(root.get(), kTemporary, kDirectoryMode));
  ASSIGN_OR_RETURN(UniqueFd temporary, system::open_beneath(root.get(), kTemporary, O_RDONLY | O_DIRECTORY));
  return Folder{.path = path, .root = std::move(root), .temporary = std::move(temporary)};
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_directory_store(const std::string& path) {
  ASSIGN_OR_RETURN(Folder folder, in_context(open_folder(path), "opening the store " + printable(path)));
  RETURN_IF_ERROR(in_context(sweep(folder), "opening the store " + printable(path)));
  return std::make_unique<DirectoryStore>(std::make_shared<const Folder>(std::move(folder)));
}

}  // namespace cofferdam::store
