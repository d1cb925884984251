#include "crypto/secret_string.h"

#include <cstring>

namespace cofferdam::crypto {

void wipe(void* bytes, std::size_t size) {
  ::explicit_bzero(bytes, size);
}

SecretString::SecretString(SecretString&& other) noexcept : text_(std::exchange(other.text_, {})) {}

SecretString& SecretString::operator=(SecretString&& other) noexcept {
  if (this != &other) {
    wipe(text_.data(), text_.size());
    text_ = std::exchange(other.text_, {});
  }
  return *this;
}

SecretString::~SecretString() {
  wipe(text_.data(), text_.size());
}

}  // namespace cofferdam::crypto
