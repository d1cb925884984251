// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), byte for byte libsodium's `xchacha20poly1305_ietf`: the subkey by
// libsodium's HChaCha20, the rest by OpenSSL's ChaCha20-Poly1305, which uses the processor's vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "crypto/secret.h"

namespace cofferdam::crypto {

inline constexpr std::size_t kXChaChaNonceSize = 24;
inline constexpr std::size_t kXChaChaTagSize = 16;

// Writes ciphertext ‖ tag, plaintext.size() + kXChaChaTagSize bytes, to `out`, which is the place of the plaintext or
// does not overlap it. `nonce`: kXChaChaNonceSize bytes, never twice with one key.
void xchacha_encrypt(const SecretKey& key, const std::uint8_t* nonce, std::string_view plaintext,
                     std::string_view context, std::uint8_t* out);

// The way back; `sealed` is ciphertext ‖ tag. When it returns false, what is in `out` must not be used.
[[nodiscard]] bool xchacha_decrypt(const SecretKey& key, const std::uint8_t* nonce, std::string_view sealed,
                                   std::string_view context, std::uint8_t* out);

}  // namespace cofferdam::crypto
