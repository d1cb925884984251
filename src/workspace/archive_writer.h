// Writes a tree as a pax tar archive in one pass that also hashes it, so that the record of what was sent costs nothing
// more.
//
// A directory comes before its files and links, these before its subdirectories, each sorted bytewise; never the root
// itself. Owner 0, no extended attributes, no sockets, FIFOs, devices or other file systems. One thread walks, several
// read and hash ahead, the caller's writes in order: memory stays below 64 MiB whatever the tree holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/byte_stream.h"
#include "workspace/entry.h"
#include "workspace/patterns.h"

namespace cofferdam::workspace {

struct ArchiveOptions {
  ExcludeRules exclude;
  std::optional<int> zstd_level;  // unset: not compressed
  unsigned threads = 0;           // that read and hash; 0: one per processor
  // Set-user-id, set-group-id and sticky bits are dropped and told (Inventory::stripped_modes); with this they fail it.
  bool refuse_special_modes = false;
};

enum class ProblemKind : std::uint8_t {
  kVanished,    // seen in its directory, gone when it was opened: not in the archive
  kUnreadable,  // a file or link that is not in the archive, or a directory that is there without its contents
  kCutOff,      // reading failed in the middle: the archive has zeros for the rest
  kShrank,      // the archive has zeros for what went
  kGrew,        // the archive has what was there when it began
  kChanged,     // three times while it was read: the archive may have parts of different versions
};
const char* to_string(ProblemKind kind);

struct ArchiveProblem {
  std::string path;
  ProblemKind kind = ProblemKind::kVanished;
  std::string why;  // what the operating system said, if it did
};

struct ArchiveReport {
  Inventory sent;                        // exactly what is in the archive, with the digests of what is in it
  std::vector<ArchiveProblem> problems;  // sorted by path
  std::uint64_t bytes = 0;               // given to the sink
};

// The archive is well-formed whatever the source does meanwhile; it is incomplete only when this fails, which the sink,
// a special mode that is refused or an unreadable root can cause. Blocks; the sink is called by the caller's thread.
Result<ArchiveReport> write_archive(int root, const ArchiveOptions& options, const ByteSink& sink);

}  // namespace cofferdam::workspace
