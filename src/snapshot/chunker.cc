#include "snapshot/chunker.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kUsualChunk = std::size_t{1} << 20;
// Hard to meet before the usual length, easy after it: lengths gather around it. The high bits depend on the last 64
// bytes, the low ones on fewer.
constexpr std::uint64_t kMaskBefore = 0xfffffc0000000000;  // 22 bits
constexpr std::uint64_t kMaskAfter = 0xffffc00000000000;   // 18 bits

}  // namespace

Chunker::Chunker(const crypto::SecretKey& key) {
  constexpr std::size_t kPerKey = crypto::SecretKey::kSize / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < gear_.size(); i += kPerKey) {
    const crypto::SecretKey piece = key.derive("gear " + std::to_string(i));
    std::memcpy(&gear_[i], piece.data(), crypto::SecretKey::kSize);
  }
}

std::size_t Chunker::first_chunk(std::string_view bytes) const {
  if (bytes.size() <= kSmallestChunk) return bytes.size();
  const std::size_t end = std::min(bytes.size(), kLargestChunk);
  const std::size_t usual = std::min(end, kUsualChunk);
  std::uint64_t hash = 0;
  std::size_t i = kSmallestChunk;
  for (; i < usual; ++i) {
    hash = (hash << 1) + gear_[static_cast<std::uint8_t>(bytes[i])];
    if ((hash & kMaskBefore) == 0) return i + 1;
  }
  for (; i < end; ++i) {
    hash = (hash << 1) + gear_[static_cast<std::uint8_t>(bytes[i])];
    if ((hash & kMaskAfter) == 0) return i + 1;
  }
  return end;
}

}  // namespace cofferdam::snapshot
