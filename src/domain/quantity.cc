#include "domain/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::optional<std::uint64_t> multiplied(std::uint64_t value, std::uint64_t factor) {
  if (value > kLargest / factor) return std::nullopt;
  return value * factor;
}

// Factor of a size's unit; 0 when there is no such unit.
std::uint64_t factor_of_size_unit(std::string_view unit) {
  const std::string lower = ascii_lower(unit);
  if (lower.empty() || lower == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgt";
  const std::size_t index = kPrefixes.find(lower.front());
  const std::string_view rest = std::string_view(lower).substr(1);
  if (index == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return 0;
  return std::uint64_t{1} << (10 * (index + 1));
}

struct TimeUnit {
  std::string_view name;
  std::uint64_t milliseconds;
};

constexpr std::array kTimeUnits = {TimeUnit{"d", 86'400'000}, TimeUnit{"h", 3'600'000}, TimeUnit{"m", 60'000},
                                   TimeUnit{"s", 1'000}, TimeUnit{"ms", 1}};
constexpr std::uint64_t kLongestDuration = 3'650 * kTimeUnits[0].milliseconds;

std::string_view take_letters(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && !is_digit(text[length])) ++length;
  const std::string_view letters = text.substr(0, length);
  text.remove_prefix(length);
  return letters;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_decimal(take_digits(text));
  const std::uint64_t factor = factor_of_size_unit(text);
  if (!number || *number == 0 || factor == 0) return std::nullopt;
  return multiplied(*number, factor);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::uint64_t total = 0;
  std::size_t next_unit = 0;
  if (const auto seconds = parse_decimal(text)) {
    const auto value = multiplied(*seconds, 1'000);
    if (!value) return std::nullopt;
    total = *value;
    text = {};
  }
  while (!text.empty()) {
    const std::optional<std::uint64_t> number = parse_decimal(take_digits(text));
    const std::string_view name = take_letters(text);
    while (next_unit < kTimeUnits.size() && kTimeUnits[next_unit].name != name) ++next_unit;
    if (!number || next_unit == kTimeUnits.size()) return std::nullopt;
    const auto part = multiplied(*number, kTimeUnits[next_unit++].milliseconds);
    if (!part || *part > kLongestDuration) return std::nullopt;
    total += *part;
  }
  if (total == 0 || total > kLongestDuration) return std::nullopt;
  return std::chrono::milliseconds(total);
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_decimal(text);
  if (!number || *number == 0 || *number > kLargest) return std::nullopt;
  return number;
}

std::optional<double> parse_cpus(std::string_view text) {
  constexpr double kSmallest = 0.01;
  constexpr double kMost = 100'000;
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < kSmallest || value > kMost) return std::nullopt;
  return value;
}

}  // namespace cofferdam::domain
