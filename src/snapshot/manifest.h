// What one snapshot holds, as a value, and its sealed form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "crypto/secret.h"
#include "snapshot/chunker.h"
#include "workspace/entry.h"

namespace cofferdam::snapshot {

// A piece of a file that is longer than kWholeFileLimit. A shorter file is one chunk with the file's own digest.
struct Piece {
  Digest digest;
  std::uint32_t size = 0;
};

struct SavedEntry {
  workspace::Entry entry;
  std::vector<Piece> pieces;  // of a file above kWholeFileLimit; else empty
};

struct Manifest {
  std::string snapshot;
  std::string company;
  std::string workspace;
  std::int64_t created_ms = 0;
  std::uint32_t root_mode = 0700;
  Digest fingerprint;               // workspace::fingerprint_of the entries
  std::vector<SavedEntry> entries;  // sorted by path
  std::vector<workspace::Omission> omissions;
  std::vector<std::string> stripped_modes;
};

// Calls use(digest, offset in the file, size) for each chunk of a file, in order.
template <class Use>
void for_each_chunk(const SavedEntry& saved, Use use) {
  if (saved.entry.kind != workspace::EntryKind::kFile || saved.entry.size == 0) return;
  if (saved.pieces.empty()) {
    use(saved.entry.digest, std::uint64_t{0}, static_cast<std::uint32_t>(saved.entry.size));
    return;
  }
  std::uint64_t offset = 0;
  for (const Piece& piece : saved.pieces) {
    use(piece.digest, offset, piece.size);
    offset += piece.size;
  }
}

// Bounds of what is read back: 2 GiB of encoding, 20 million entries.
std::string encode(const Manifest& manifest);
// kDataLoss for anything malformed, a path or order that no walk gives, pieces that do not add up, or entries that do
// not have the fingerprint.
Result<Manifest> decode(std::string_view encoded);

// "CFDMANI1" | sealed(zstd(encode)).
Result<std::string> seal_manifest(const Manifest& manifest, const crypto::SecretKey& key);
Result<Manifest> open_manifest(std::string_view sealed, const crypto::SecretKey& key, const std::string& company,
                               const std::string& snapshot);

}  // namespace cofferdam::snapshot
