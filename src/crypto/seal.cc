#include "crypto/seal.h"

#include <sodium.h>

#include "base/hex.h"

namespace cofferdam::crypto {
namespace {

constexpr std::size_t kNonceSize = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagSize = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(kNonceSize + kTagSize == kSealOverhead);

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text, std::size_t offset) {
  return reinterpret_cast<unsigned char*>(text.data()) + offset;
}

}  // namespace

void seal_to(std::string& out, const SecretKey& key, std::string_view plaintext, std::string_view context) {
  const std::size_t start = out.size();
  out.resize(start + plaintext.size() + kSealOverhead);
  unsigned char* const nonce = bytes_of(out, start);
  randombytes_buf(nonce, kNonceSize);
  crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(out, start + kNonceSize), nullptr, bytes_of(plaintext),
                                             plaintext.size(), bytes_of(context), context.size(), nullptr, nonce,
                                             key.data());
}

std::string seal(const SecretKey& key, std::string_view plaintext, std::string_view context) {
  std::string out;
  seal_to(out, key, plaintext, context);
  return out;
}

Result<std::string> open(const SecretKey& key, std::string_view sealed, std::string_view context) {
  if (sealed.size() < kSealOverhead) return Error(ErrorCode::kDataLoss, "a sealed piece is too short to be whole");
  std::string plaintext(sealed.size() - kSealOverhead, '\0');
  const int opened = crypto_aead_xchacha20poly1305_ietf_decrypt(
      bytes_of(plaintext, 0), nullptr, nullptr, bytes_of(sealed) + kNonceSize, sealed.size() - kNonceSize,
      bytes_of(context), context.size(), bytes_of(sealed), key.data());
  if (opened != 0) {
    return Error(ErrorCode::kDataLoss, "a sealed piece does not open: it was altered, or sealed with another key");
  }
  return plaintext;
}

Digest keyed_name(const SecretKey& key, std::string_view bytes) {
  Digest name;
  crypto_generichash(name.bytes.data(), name.bytes.size(), bytes_of(bytes), bytes.size(), key.data(), SecretKey::kSize);
  return name;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  randombytes_buf(raw.data(), raw.size());
  return to_hex(raw);
}

}  // namespace cofferdam::crypto
