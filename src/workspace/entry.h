// One thing in a workspace, as everything that moves, saves or merges workspaces sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.h"

namespace cofferdam::workspace {

// The mode bits that an entry carries: never set-user-id, set-group-id or sticky.
inline constexpr std::uint32_t kPermissionBits = 0777;

enum class EntryKind : std::uint8_t { kDirectory, kFile, kSymlink };

// Owner, access lists, extended attributes and flags are never part of it. A hard link counts as a file of its own.
struct Entry {
  std::string path;  // bytes, relative to the root; names separated by one slash, none empty, "." or ".."
  EntryKind kind = EntryKind::kFile;
  std::uint32_t mode = 0;  // & kPermissionBits; all of them for a link
  std::uint64_t size = 0;  // bytes of a file; else 0
  std::int64_t mtime_ns = 0;
  Digest digest{};     // of a file's content
  std::string target;  // of a link, as it is written there

  // Whether both are the same for a merge: kind, permission bits of files and directories, content or target.
  bool same_content(const Entry& other) const {
    return path == other.path && kind == other.kind && mode == other.mode && size == other.size &&
           digest == other.digest && target == other.target;
  }
};

// Why something that was seen is not among the entries.
enum class OmissionReason : std::uint8_t {
  kExcluded,      // named by a pattern
  kDependencies,  // an untracked node_modules or Python environment
  kSocket,
  kFifo,
  kDevice,
  kOtherFileSystem,  // a mount point below the root
};
const char* to_string(OmissionReason reason);

struct Omission {
  std::string path;
  OmissionReason reason;
  bool operator==(const Omission&) const = default;
};

// Entries sorted by path, bytewise; a directory comes before what it holds. The root itself is not among them.
struct Inventory {
  std::vector<Entry> entries;
  std::vector<Omission> omissions;
  std::vector<std::string> stripped_modes;  // paths whose special mode bits are not in their entry
};

// SHA-256 of the canonical encoding of all entries (docs/reference/snapshot-format.md). Times are not part of it: two
// trees with equal fingerprints hold the same names, kinds, permission bits, contents and link targets.
Digest fingerprint_of(const std::vector<Entry>& entries);

const Entry* find_entry(const std::vector<Entry>& entries, const std::string& path);

}  // namespace cofferdam::workspace
