// Base64, as keys are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cofferdam::crypto {

// Standard alphabet with padding.
std::string to_base64(std::string_view bytes);

// Standard or URL alphabet, with or without padding; nothing for anything else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cofferdam::crypto
