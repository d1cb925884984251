// Key material that is wiped when its owner goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cofferdam::crypto {

// Overwrites what `bytes` holds, in a way the compiler keeps.
void wipe(void* bytes, std::size_t size);

// A 32-byte key. Copies are deliberate (clone()); it never prints itself.
class SecretKey {
 public:
  static constexpr std::size_t kSize = 32;

  static SecretKey random();
  // `raw` must hold exactly kSize bytes.
  static SecretKey from_bytes(std::string_view raw);

  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  SecretKey clone() const;
  // A key for one purpose, from which this one cannot be computed (BLAKE2b, keyed; `purpose` is public).
  SecretKey derive(std::string_view purpose) const;
  // Names the key without telling it: the first 12 hexadecimal digits of its SHA-256.
  std::string fingerprint() const;

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  const std::uint8_t* data() const { return bytes_.data(); }

 private:
  SecretKey() = default;
  std::array<std::uint8_t, kSize> bytes_{};
};

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
