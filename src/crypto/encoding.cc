#include "crypto/encoding.h"

#include <sodium.h>

namespace cofferdam::crypto {
namespace {

std::optional<std::string> decode(std::string_view text, int variant) {
  std::string out(text.size(), '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()), out.size(), text.data(),
                                       text.size(), nullptr, &size, &end, variant);
  if (failed != 0 || end != text.data() + text.size()) return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // the terminating zero
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr int kVariants[] = {sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
                               sodium_base64_VARIANT_URLSAFE, sodium_base64_VARIANT_URLSAFE_NO_PADDING};
  for (const int variant : kVariants) {
    if (auto bytes = decode(text, variant)) return bytes;
  }
  return std::nullopt;
}

}  // namespace cofferdam::crypto
