// Keys that are wiped when their owner goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "crypto/secret_string.h"

namespace cofferdam::crypto {

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

}  // namespace cofferdam::crypto
