// The part of writing an archive that several threads do at once: some names of one directory, read, hashed and put
// behind their headers.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/archive_writer.h"

namespace cofferdam::workspace {

// Larger files are read by the thread that writes, piece by piece.
inline constexpr std::uint64_t kSmallFile = std::uint64_t{128} << 10;
inline constexpr std::size_t kNamesInBatch = 16;

struct PackFindings {
  std::vector<Entry> entries;
  std::vector<Omission> omissions;
  std::vector<ArchiveProblem> problems;
  std::vector<std::string> stripped_modes;

  void take(PackFindings&& other);
};

struct PackName {
  std::string name;
  bool is_link = false;
};

struct PackBatch {
  std::shared_ptr<const UniqueFd> directory;
  std::string prefix;         // of the names: "" or "a/b/"
  std::optional<Entry> self;  // the directory's own entry, in the first batch of each
  std::vector<PackName> names;
};

// Bytes of the archive; then, if named, a file that is still to be read.
struct PackedPiece {
  std::string bytes;
  std::string large_name;
};

struct PackedBatch {
  std::vector<PackedPiece> pieces;
  PackFindings findings;
};

struct PackRules {
  std::uint64_t device = 0;  // of the root: nothing of another one is packed
  bool refuse_special_modes = false;
};

// kFailedPrecondition for a special mode that is refused; what the source does is in the findings. Thread-safe.
Result<PackedBatch> pack(const PackBatch& batch, const PackRules& rules);

// Header, content and padding of one file of any size, in pieces. Errors are the sink's, or as of pack().
Status pack_large(const PackBatch& batch, const std::string& name, const PackRules& rules, PackFindings& findings,
                  const ByteSink& sink);

// The entry for what `status` describes, without content, after the special bits were noted. As of pack().
Result<Entry> begin_entry(const std::string& path, const struct stat& status, const PackRules& rules,
                          PackFindings& findings);

// What is left out because of its kind or place; nothing for what is packed.
std::optional<OmissionReason> omission_of(const struct stat& status, const PackRules& rules);

}  // namespace cofferdam::workspace
