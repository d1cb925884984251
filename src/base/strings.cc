#include "base/strings.h"

#include <algorithm>
#include <charconv>

namespace cofferdam {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Length of the valid UTF-8 sequence at the start of `bytes`; 0 when there is none.
std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  const auto continues = [&](std::size_t index) { return index < bytes.size() && (at(index) & 0xC0) == 0x80; };
  if (at(0) < 0x80) return 1;
  if (at(0) >= 0xC2 && at(0) <= 0xDF) return continues(1) ? 2 : 0;
  if (at(0) >= 0xE0 && at(0) <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (at(0) == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (at(0) == 0xED && at(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (at(0) >= 0xF0 && at(0) <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (at(0) == 0xF0 && at(1) < 0x90) return 0;
    if (at(0) == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// C1 controls and the bidirectional overrides can rewrite what a reader sees.
bool is_deceptive(std::string_view sequence) {
  if (sequence.size() == 2) return sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
  return sequence.size() == 3 && sequence[0] == '\xE2' &&
         ((sequence[1] == '\x80' && static_cast<unsigned char>(sequence[2]) >= 0xA8) ||
          (sequence[1] == '\x81' && static_cast<unsigned char>(sequence[2]) >= 0xA6));
}

void append_escaped(std::string& out, char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += "\\x";
  out += kHex[value >> 4];
  out += kHex[value & 15];
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string out;
  for (const std::string& piece : pieces) {
    if (!out.empty()) out += separator;
    out += piece;
  }
  return out;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string printable(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const char first = bytes.front();
    const bool control = length == 1 && (static_cast<unsigned char>(first) < 0x20 || first == 0x7F);
    if (length == 0 || control || is_deceptive(bytes.substr(0, length))) {
      append_escaped(out, first);
      bytes.remove_prefix(1);
    } else {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return out;
}

std::string shell_quoted(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace cofferdam
