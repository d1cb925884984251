#include "crypto/xchacha.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace cofferdam::crypto {
namespace {

static_assert(kXChaChaNonceSize == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(kXChaChaTagSize == crypto_aead_xchacha20poly1305_ietf_ABYTES);

// OpenSSL counts in int.
constexpr std::size_t kLongestUpdate = std::size_t{1} << 30;

// Fetched once: OpenSSL 3 looks an algorithm up by name at every use of the short form.
const EVP_CIPHER* algorithm() {
  static const EVP_CIPHER* const kAlgorithm = EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
  return kAlgorithm;
}

// Only a broken library or exhausted memory gets here, and nothing may ever be sealed wrongly.
void require(bool done) {
  if (!done) std::abort();
}

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

// ChaCha20-Poly1305 under the subkey of one nonce.
class Cipher {
 public:
  Cipher(const SecretKey& key, const std::uint8_t* nonce, bool encrypts) : evp_(EVP_CIPHER_CTX_new()) {
    std::array<std::uint8_t, crypto_core_hchacha20_OUTPUTBYTES> subkey{};
    static_assert(crypto_core_hchacha20_INPUTBYTES == 16);
    require(crypto_core_hchacha20(subkey.data(), nonce, key.data(), nullptr) == 0);
    // The first four bytes of the shorter nonce stay zero.
    std::array<std::uint8_t, 12> rest{};
    std::copy_n(nonce + crypto_core_hchacha20_INPUTBYTES, kXChaChaNonceSize - crypto_core_hchacha20_INPUTBYTES,
                rest.begin() + 4);
    const int started = evp_ == nullptr ? 0
                                        : EVP_CipherInit_ex2(evp_.get(), algorithm(), subkey.data(), rest.data(),
                                                             encrypts ? 1 : 0, nullptr);
    sodium_memzero(subkey.data(), subkey.size());
    require(started == 1);
  }

  void authenticate(std::string_view context) { update(nullptr, context); }

  // `out` null: authenticated only.
  void update(std::uint8_t* out, std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kLongestUpdate);
      int length = 0;
      require(EVP_CipherUpdate(evp_.get(), out, &length, bytes_of(piece), static_cast<int>(piece.size())) == 1 &&
              static_cast<std::size_t>(length) == piece.size());
      if (out != nullptr) out += piece.size();
      bytes.remove_prefix(piece.size());
    }
  }

  void finish(std::uint8_t* tag) {
    int length = 0;
    std::uint8_t nothing = 0;
    require(EVP_CipherFinal_ex(evp_.get(), &nothing, &length) == 1);
    require(EVP_CIPHER_CTX_ctrl(evp_.get(), EVP_CTRL_AEAD_GET_TAG, kXChaChaTagSize, tag) == 1);
  }

  // Whether everything before belongs to the tag.
  bool finish(std::string_view tag) {
    std::array<std::uint8_t, kXChaChaTagSize> expected{};
    std::copy_n(bytes_of(tag), expected.size(), expected.begin());
    require(EVP_CIPHER_CTX_ctrl(evp_.get(), EVP_CTRL_AEAD_SET_TAG, kXChaChaTagSize, expected.data()) == 1);
    int length = 0;
    std::uint8_t nothing = 0;
    return EVP_CipherFinal_ex(evp_.get(), &nothing, &length) == 1;
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }  // wipes the subkey
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> evp_;
};

}  // namespace

void xchacha_encrypt(const SecretKey& key, const std::uint8_t* nonce, std::string_view plaintext,
                     std::string_view context, std::uint8_t* out) {
  Cipher cipher(key, nonce, true);
  cipher.authenticate(context);
  cipher.update(out, plaintext);
  cipher.finish(out + plaintext.size());
}

bool xchacha_decrypt(const SecretKey& key, const std::uint8_t* nonce, std::string_view sealed, std::string_view context,
                     std::uint8_t* out) {
  if (sealed.size() < kXChaChaTagSize) return false;
  const std::size_t length = sealed.size() - kXChaChaTagSize;
  Cipher cipher(key, nonce, false);
  cipher.authenticate(context);
  cipher.update(out, sealed.substr(0, length));
  return cipher.finish(sealed.substr(length));
}

}  // namespace cofferdam::crypto
