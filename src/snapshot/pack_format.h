// The layout of a pack: segments one after another, then the sealed index of the chunks in them.
//
//   "CFDPACK1" | segment … | sealed index | number32 length of the sealed index | "CFDPEND1"
//
// A segment is sealed(zstd(chunk ‖ chunk ‖ …)). docs/reference/snapshot-format.md is the description for others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "crypto/secret.h"

namespace cofferdam::snapshot {

inline constexpr std::string_view kPackHead = "CFDPACK1";
inline constexpr std::string_view kPackEnd = "CFDPEND1";
inline constexpr std::size_t kPackFooterSize = 4 + kPackEnd.size();
// Plaintext of a segment: at least one chunk, closed when it holds this much.
inline constexpr std::size_t kSegmentTarget = std::size_t{1} << 20;
inline constexpr std::size_t kSegmentLimit = std::size_t{8} << 20;
inline constexpr std::uint64_t kPackTarget = std::uint64_t{64} << 20;

struct SegmentPlace {
  std::uint64_t offset = 0;  // in the pack
  std::uint32_t stored = 0;  // sealed bytes
  std::uint32_t plain = 0;   // bytes of its chunks
};

struct ChunkPlace {
  Digest name;
  std::uint32_t segment = 0;  // index into PackIndex::segments
  std::uint32_t offset = 0;   // in the segment's plaintext
  std::uint32_t size = 0;
};

struct PackIndex {
  std::vector<SegmentPlace> segments;
  std::vector<ChunkPlace> chunks;
};

std::string seal_index(const PackIndex& index, const crypto::SecretKey& content_key, const std::string& pack_id);
// kDataLoss when it does not open or its places contradict each other or `pack_size`.
Result<PackIndex> open_index(std::string_view sealed, const crypto::SecretKey& content_key, const std::string& pack_id,
                             std::uint64_t pack_size);

// What follows the segments: sealed index and footer.
std::string pack_tail(std::string_view sealed_index);
// Length of the sealed index, from the footer; kDataLoss when it is none.
Result<std::uint32_t> index_length(std::string_view footer);

// Compresses and seals the plaintext of a segment. `level`: zstd's.
Result<std::string> seal_segment(std::string_view plaintext, const crypto::SecretKey& content_key, int level);
// kDataLoss when it does not open or has another length than `plain` bytes.
Result<std::string> open_segment(std::string_view sealed, const crypto::SecretKey& content_key, std::uint32_t plain);

// zstd in one piece, for small things; decompression is bounded by `limit` bytes.
Result<std::string> compress(std::string_view plaintext, int level);
Result<std::string> decompress(std::string_view compressed, std::size_t limit);

}  // namespace cofferdam::snapshot
