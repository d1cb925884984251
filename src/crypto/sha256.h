// SHA-256, incremental and in one call. The implementation is OpenSSL's, which uses the processor's SHA instructions.
#pragma once

#include <memory>
#include <string_view>

#include "base/digest.h"

namespace cofferdam::crypto {

// Not thread-safe; one per thread. Cheap to reuse: finish() leaves it as new.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Digest sha256(std::string_view bytes);

}  // namespace cofferdam::crypto
