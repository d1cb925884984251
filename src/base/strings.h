// Small text helpers that the standard library of this platform lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cofferdam {

// Without leading and trailing white space as JavaScript's trim() sees it in ASCII text.
std::string_view trimmed(std::string_view text);

std::string ascii_lower(std::string_view text);

// Case-insensitive comparison of ASCII text.
bool equals_ignoring_case(std::string_view left, std::string_view right);

// Pieces between separators; an empty text gives one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

// Decimal digits only, no sign, no space; nothing when it does not fit or anything else is there.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

// Text that a terminal or a log may show: control characters, invalid UTF-8 and line breaks as \xNN.
std::string printable(std::string_view bytes);

// The inverse of a POSIX shell's word splitting: quoted only where it must be.
std::string shell_quoted(std::string_view word);

// A string of at most `most` bytes that `fill` writes to a place of that size, returning how many it wrote; nothing is
// cleared before. Not to be had from resize_and_overwrite alone: libstdc++ 12 tells its operation a size that may be
// larger than what was asked for.
template <typename Fill>
std::string filled_string(std::size_t most, Fill fill) {
  std::string out;
  out.resize_and_overwrite(most, [&](char* place, std::size_t) { return fill(place); });
  return out;
}

}  // namespace cofferdam
