// A SHA-256 digest as a value.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace cofferdam {

struct Digest {
  static constexpr std::size_t kSize = 32;
  std::array<std::uint8_t, kSize> bytes{};

  auto operator<=>(const Digest&) const = default;

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  std::string hex() const { return to_hex(view()); }

  // Nothing when `raw` is not exactly 32 bytes.
  static std::optional<Digest> from_bytes(std::string_view raw) {
    if (raw.size() != kSize) return std::nullopt;
    Digest digest;
    raw.copy(reinterpret_cast<char*>(digest.bytes.data()), kSize);
    return digest;
  }
};

// For unordered containers. The bytes of a digest are as good as a hash of them.
struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t value = 0;
    std::memcpy(&value, digest.bytes.data(), sizeof value);
    return value;
  }
};

}  // namespace cofferdam
