// Where sealed bytes lie: a directory, or S3-compatible storage. The store never sees plaintext.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cofferdam::store {

// Names of objects: lower-case letters, digits, '-', '_', '.' and '/'; at most 512 bytes, 200 between slashes; no
// empty,
// "." or ".." piece. A name must not go on where another ends ("a" and "a/b"): a directory cannot hold both.
Status check_object_key(std::string_view key);

// One object being written. Nothing is visible under its name before commit() returns success; then it is durable.
// Destruction without commit() removes what was written. Not thread-safe.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Status commit() = 0;
};

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;       // bytes
  std::int64_t modified_s = 0;  // seconds since the epoch, by the clock of the storage
};

// Thread-safe. Errors name the object, never a credential. Every call may be repeated: kUnavailable says that it can
// help.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // An object that does not exist yet. kAlreadyExists at commit() (or here) when the name is taken: objects are never
  // replaced.
  virtual Result<std::unique_ptr<ObjectWriter>> create(const std::string& key) = 0;

  // Exactly `length` bytes from `offset`; kNotFound, or kDataLoss when the object is shorter.
  virtual Result<std::string> read(const std::string& key, std::uint64_t offset, std::uint64_t length) = 0;

  virtual Result<std::uint64_t> size(const std::string& key) = 0;

  // An absent object is success.
  virtual Status remove(const std::string& key) = 0;

  // Objects whose key begins with `prefix`, in order of their keys, beginning after `after`; at most `limit` of them.
  virtual Result<std::vector<ObjectInfo>> list(const std::string& prefix, const std::string& after,
                                               std::size_t limit) = 0;

  // "directory /x" or "s3 bucket", for messages.
  virtual std::string description() const = 0;
};

// Objects as files below `path` (made when missing, mode 0700; files 0600): written beside their place, fsynced,
// renamed, and the directory fsynced. A process that dies leaves only files below `path`/TMP, which the next open
// removes when their writer is gone. kResourceExhausted, naming the file, when the disk is full.
Result<std::unique_ptr<ObjectStore>> open_directory_store(const std::string& path);

}  // namespace cofferdam::store
