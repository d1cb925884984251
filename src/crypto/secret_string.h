// Secret text that is wiped when its owner goes. Apart from keys: it needs no library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cofferdam::crypto {

// Overwrites what `bytes` holds, in a way the compiler keeps.
void wipe(void* bytes, std::size_t size);

// Text that is a secret (a password, an encoded key).
class SecretString {
 public:
  SecretString() = default;
  explicit SecretString(std::string text) : text_(std::move(text)) {}
  SecretString(SecretString&& other) noexcept;
  SecretString& operator=(SecretString&& other) noexcept;
  SecretString(const SecretString&) = delete;
  SecretString& operator=(const SecretString&) = delete;
  ~SecretString();

  std::string_view reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace cofferdam::crypto
