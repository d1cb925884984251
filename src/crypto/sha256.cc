#include "crypto/sha256.h"

#include <openssl/evp.h>

#include <cstdlib>

namespace cofferdam::crypto {
namespace {

// Fetched once: OpenSSL 3 looks an algorithm up by name at every use of the short form.
const EVP_MD* algorithm() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kAlgorithm;
}

// Only a broken library or exhausted memory gets here, and no digest must ever be wrong.
void require(bool done) {
  if (!done) std::abort();
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  Context() { restart(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
  void restart() const { require(evp != nullptr && EVP_DigestInit_ex2(evp, algorithm(), nullptr) == 1); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
  Digest digest;
  require(EVP_DigestFinal_ex(context_->evp, digest.bytes.data(), nullptr) == 1);
  context_->restart();
  return digest;
}

Digest sha256(std::string_view bytes) {
  thread_local Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace cofferdam::crypto
