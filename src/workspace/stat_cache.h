// Digests of files that were read before, so that an unchanged file need not be read again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/digest.h"
#include "base/result.h"
#include "system/tree.h"

namespace cofferdam::workspace {

// A digest is trusted while device, inode, size, mtime and ctime are the same; ctime cannot be set back by a program
// without the machine's clock. A file that changed less than a second before it was read is not remembered: it could
// change again within the same tick of its clock. Lookups may come from any thread while nothing is remembered;
// the file itself belongs to one process at a time (last writer wins: it is a cache).
class StatCache {
 public:
  // A missing, foreign or damaged file is an empty cache.
  static StatCache load(std::string file);

  std::optional<Digest> digest_of(const std::string& path, const system::FileIdentity& identity) const;
  void remember(const std::string& path, const system::FileIdentity& identity, const Digest& digest);
  // Forgets paths that were neither asked for nor remembered since load(), and writes the file if anything changed.
  Status store();

 private:
  struct Known {
    system::FileIdentity identity;
    Digest digest;
    mutable bool used = false;
  };
  std::string file_;
  std::unordered_map<std::string, Known> known_;
  bool changed_ = false;
};

}  // namespace cofferdam::workspace
