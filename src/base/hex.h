// Bytes as lower-case hexadecimal text and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cofferdam {

std::string to_hex(std::string_view bytes);

// Nothing when the length is odd or a character is not a hexadecimal digit (either case).
std::optional<std::string> from_hex(std::string_view text);

}  // namespace cofferdam
