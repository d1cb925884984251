#include "crypto/seal.h"

#include <sodium.h>

#include "base/hex.h"
#include "base/strings.h"
#include "crypto/xchacha.h"

namespace cofferdam::crypto {
namespace {

static_assert(kXChaChaNonceSize + kXChaChaTagSize == kSealOverhead);
static_assert(kXChaChaNonceSize == kSealHead);

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
  randombytes_buf(nonce, kXChaChaNonceSize);
  xchacha_encrypt(key, nonce, plaintext, context, nonce + kXChaChaNonceSize);
}

void seal_in_place(std::string& piece, const SecretKey& key, std::string_view context) {
  const std::size_t length = piece.size() - kSealHead;
  piece.resize(piece.size() + kXChaChaTagSize);
  unsigned char* const nonce = bytes_of(piece, 0);
  randombytes_buf(nonce, kXChaChaNonceSize);
  xchacha_encrypt(key, nonce, std::string_view(piece).substr(kSealHead, length), context, nonce + kXChaChaNonceSize);
}

std::string seal(const SecretKey& key, std::string_view plaintext, std::string_view context) {
  std::string out;
  seal_to(out, key, plaintext, context);
  return out;
}

Result<std::string> open(const SecretKey& key, std::string_view sealed, std::string_view context) {
  if (sealed.size() < kSealOverhead) return Error(ErrorCode::kDataLoss, "a sealed piece is too short to be whole");
  const std::size_t length = sealed.size() - kSealOverhead;
  bool opened = false;
  std::string plaintext = filled_string(length, [&](char* place) {
    opened = xchacha_decrypt(key, bytes_of(sealed), sealed.substr(kXChaChaNonceSize), context,
                             reinterpret_cast<unsigned char*>(place));
    return length;
  });
  if (!opened) {
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
