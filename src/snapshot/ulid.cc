#include "snapshot/ulid.h"

#include "base/hex.h"
#include "crypto/seal.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr unsigned kBitsPerCharacter = 5;
constexpr int kTimeCharacters = 10;
constexpr std::size_t kRandomBytes = 10;

}  // namespace

std::string new_ulid(std::int64_t now_ms) {
  std::string out;
  for (int i = kTimeCharacters - 1; i >= 0; --i) {
    out += kAlphabet[static_cast<std::uint64_t>(now_ms) >> (static_cast<unsigned>(i) * kBitsPerCharacter) & 31];
  }
  const std::string random = *from_hex(crypto::random_hex(kRandomBytes));
  std::uint64_t bits = 0;
  unsigned have = 0;
  for (const char byte : random) {
    bits = bits << 8 | static_cast<std::uint8_t>(byte);
    for (have += 8; have >= kBitsPerCharacter;) {
      have -= kBitsPerCharacter;
      out += kAlphabet[bits >> have & 31];
    }
  }
  return out;
}

}  // namespace cofferdam::snapshot
