#include "domain/moment.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

using std::chrono::day;
using std::chrono::milliseconds;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

// What a missing end is read as; every text is this long when it is complete.
constexpr std::string_view kMidnight = "0000-00-00T00:00:00.000";
constexpr std::array<std::size_t, 4> kLengths = {10, 16, 19, 23};  // up to the day, minute, second, millisecond

bool has_shape_of_moment(std::string_view text) {
  for (std::size_t index = 0; index < kMidnight.size(); ++index) {
    const bool is_digit = text[index] >= '0' && text[index] <= '9';
    if (kMidnight[index] == '0' ? !is_digit : text[index] != kMidnight[index]) return false;
  }
  return true;
}

}  // namespace

std::string moment_text(Moment moment) {
  const auto midnight = std::chrono::floor<std::chrono::days>(moment);
  const year_month_day date(midnight);
  const std::chrono::hh_mm_ss time(moment - midnight);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return text.data();
}

std::optional<Moment> parse_moment(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (std::ranges::find(kLengths, text.size()) == kLengths.end()) return std::nullopt;
  const std::string whole = std::string(text) + std::string(kMidnight.substr(text.size()));
  if (!has_shape_of_moment(whole)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<unsigned>(*parse_decimal(std::string_view(whole).substr(at, length)));
  };
  const year_month_day date(year(static_cast<int>(number(0, 4))), month(number(5, 2)), day(number(8, 2)));
  const unsigned hour = number(11, 2);
  const unsigned minute = number(14, 2);
  const unsigned second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second) +
         milliseconds(number(20, 3));
}

}  // namespace cofferdam::domain
