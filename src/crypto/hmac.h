// HMAC-SHA-256, for signing requests to services that use it.
#pragma once

#include <string_view>

#include "base/digest.h"

namespace cofferdam::crypto {

// `key` of any length.
Digest hmac_sha256(std::string_view key, std::string_view message);

}  // namespace cofferdam::crypto
