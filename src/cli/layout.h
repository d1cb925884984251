// Text in columns, for help.
#pragma once

#include <string>
#include <string_view>

namespace cofferdam::cli {

inline constexpr std::size_t kTextWidth = 100;

// `text` broken at spaces so that no line is longer than `width` (a longer word stands alone); every line but the
// first starts with `indent` spaces. Line breaks in `text` are kept.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = kTextWidth);

}  // namespace cofferdam::cli
