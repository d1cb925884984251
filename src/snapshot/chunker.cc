#include "snapshot/chunker.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kUsualChunk = std::size_t{1} << 20;
// A cut is where the hash is below its limit: hard to meet before the usual length, easy after it, so that lengths
// gather around it. The high bits depend on the last 64 bytes, the low ones on fewer.
constexpr std::uint64_t kLimitBefore = std::uint64_t{1} << 42;  // 22 bits are 0
constexpr std::uint64_t kLimitAfter = std::uint64_t{1} << 46;   // 18 bits

}  // namespace

Chunker::Chunker(const crypto::SecretKey& key) {
  constexpr std::size_t kPerKey = crypto::SecretKey::kSize / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < gear_.size(); i += kPerKey) {
    const crypto::SecretKey piece = key.derive("gear " + std::to_string(i));
    std::memcpy(&gear_[i], piece.data(), crypto::SecretKey::kSize);
  }
}

std::size_t Chunker::first_chunk(std::string_view bytes) const {
  return first_cut(bytes).value_or(bytes.size());
}

std::optional<std::size_t> Chunker::first_cut(std::string_view bytes) const {
  if (bytes.size() <= kSmallestChunk) return std::nullopt;
  const std::size_t end = std::min(bytes.size(), kLargestChunk);
  const std::size_t usual = std::min(end, kUsualChunk);
  std::uint64_t hash = 0;
  if (const auto cut = scan(bytes, {.from = kSmallestChunk, .to = usual, .limit = kLimitBefore}, hash)) return cut;
  if (const auto cut = scan(bytes, {.from = usual, .to = end, .limit = kLimitAfter}, hash)) return cut;
  return end == kLargestChunk ? std::optional(end) : std::nullopt;
}

// Most bytes of long files pass here: no check of each index, and no branch of the loop for each.
std::optional<std::size_t> Chunker::scan(std::string_view bytes, const Range& range, std::uint64_t& hash) const {
  const char* const data = bytes.data();
  const std::uint64_t* const gear = gear_.data();
  std::uint64_t rolling = hash;
#pragma clang loop unroll_count(4)
  for (std::size_t i = range.from; i < range.to; ++i) {
    rolling = (rolling << 1) + gear[static_cast<std::uint8_t>(data[i])];
    if (rolling < range.limit) return i + 1;
  }
  hash = rolling;
  return std::nullopt;
}

}  // namespace cofferdam::snapshot
