#include "crypto/secret.h"

#include <sodium.h>

#include <cstdlib>
#include <utility>

#include "crypto/sha256.h"

namespace cofferdam::crypto {
namespace {

constexpr std::size_t kFingerprintDigits = 12;

// sodium_init may be called often and from any thread; without random bytes there is no going on.
void require_sodium() {
  if (sodium_init() < 0) std::abort();
}

}  // namespace

SecretKey SecretKey::random() {
  require_sodium();
  SecretKey key;
  randombytes_buf(key.bytes_.data(), key.bytes_.size());
  return key;
}

SecretKey SecretKey::from_bytes(std::string_view raw) {
  if (raw.size() != kSize) std::abort();
  SecretKey key;
  raw.copy(reinterpret_cast<char*>(key.bytes_.data()), kSize);
  return key;
}

SecretKey::SecretKey(SecretKey&& other) noexcept : bytes_(other.bytes_) {
  wipe(other.bytes_.data(), other.bytes_.size());
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    wipe(other.bytes_.data(), other.bytes_.size());
  }
  return *this;
}

SecretKey::~SecretKey() {
  wipe(bytes_.data(), bytes_.size());
}

SecretKey SecretKey::clone() const {
  return from_bytes(view());
}

SecretKey SecretKey::derive(std::string_view purpose) const {
  require_sodium();
  SecretKey key;
  crypto_generichash(key.bytes_.data(), key.bytes_.size(), reinterpret_cast<const unsigned char*>(purpose.data()),
                     purpose.size(), bytes_.data(), bytes_.size());
  return key;
}

std::string SecretKey::fingerprint() const {
  return sha256(view()).hex().substr(0, kFingerprintDigits);
}

}  // namespace cofferdam::crypto
