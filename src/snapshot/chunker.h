// Where a long file is cut, so that an insertion moves only the cuts around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "crypto/secret.h"

namespace cofferdam::snapshot {

// Files up to this size are one chunk.
inline constexpr std::size_t kWholeFileLimit = std::size_t{1} << 20;
inline constexpr std::size_t kSmallestChunk = std::size_t{512} << 10;
inline constexpr std::size_t kLargestChunk = std::size_t{4} << 20;

// Gear hashing with normalised cut conditions (FastCDC). The table comes from a key of the company, so that the lengths
// of sealed chunks do not tell a reader of the store which well-known file they are. Immutable; thread-safe.
class Chunker {
 public:
  explicit Chunker(const crypto::SecretKey& key);

  // Length of the first chunk of `bytes`: all of it when it is shorter than the smallest chunk. Give at least
  // kLargestChunk bytes, or all that is left of the file; else the cut depends on how the file was read.
  std::size_t first_chunk(std::string_view bytes) const;

  // The same for the beginning of a file of which more is to come; nothing when the cut lies behind these bytes.
  std::optional<std::size_t> first_cut(std::string_view bytes) const;

 private:
  struct Range {
    std::size_t from = 0;
    std::size_t to = 0;
    std::uint64_t limit = 0;
  };
  std::optional<std::size_t> scan(std::string_view bytes, const Range& range, std::uint64_t& hash) const;

  std::array<std::uint64_t, 256> gear_{};
};

}  // namespace cofferdam::snapshot
