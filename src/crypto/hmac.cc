#include "crypto/hmac.h"

#include <sodium.h>

namespace cofferdam::crypto {
namespace {

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Digest hmac_sha256(std::string_view key, std::string_view message) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, unsigned_bytes(key), key.size());
  crypto_auth_hmacsha256_update(&state, unsigned_bytes(message), message.size());
  Digest digest;
  crypto_auth_hmacsha256_final(&state, digest.bytes.data());
  sodium_memzero(&state, sizeof state);
  return digest;
}

}  // namespace cofferdam::crypto
