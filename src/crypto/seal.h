// Authenticated encryption of one piece of data (XChaCha20-Poly1305) and keyed names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"
#include "crypto/secret.h"

namespace cofferdam::crypto {

// What sealing adds to the plaintext: a random 24-byte nonce before it, a 16-byte tag after it.
inline constexpr std::size_t kSealOverhead = 24 + 16;
inline constexpr std::size_t kSealHead = 24;  // of it, before the plaintext

// nonce ‖ ciphertext ‖ tag. `context` is authenticated, not stored: opening needs the same bytes, so that a sealed
// piece cannot be passed off as another one.
std::string seal(const SecretKey& key, std::string_view plaintext, std::string_view context);
// The same, appended to `out`.
void seal_to(std::string& out, const SecretKey& key, std::string_view plaintext, std::string_view context);

// The same without a copy: `piece` holds kSealHead bytes of anything, then the plaintext.
void seal_in_place(std::string& piece, const SecretKey& key, std::string_view context);

// kDataLoss when the piece was altered, belongs to another context or was sealed with another key.
Result<std::string> open(const SecretKey& key, std::string_view sealed, std::string_view context);

// BLAKE2b-256 of `bytes` under `key`: without the key nobody can tell which content a name belongs to.
Digest keyed_name(const SecretKey& key, std::string_view bytes);

// Lower-case hexadecimal text of `bytes` random bytes.
std::string random_hex(std::size_t bytes);

}  // namespace cofferdam::crypto
