#include "snapshot/retention.h"

#include <chrono>
#include <optional>

namespace cofferdam::snapshot {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::sys_days;
using std::chrono::sys_time;

// The period that a time belongs to, as a number that differs between periods.
using PeriodOf = std::int64_t (*)(std::int64_t);

sys_days day_of(std::int64_t time_ms) {
  return floor<days>(sys_time<milliseconds>(milliseconds(time_ms)));
}

std::int64_t hour(std::int64_t time_ms) {
  return floor<hours>(milliseconds(time_ms)).count();
}

std::int64_t day(std::int64_t time_ms) {
  return day_of(time_ms).time_since_epoch().count();
}

std::int64_t week(std::int64_t time_ms) {
  const sys_days date = day_of(time_ms);
  const auto since_monday = std::chrono::weekday(date) - std::chrono::Monday;
  return (date - since_monday).time_since_epoch().count();
}

std::int64_t month(std::int64_t time_ms) {
  constexpr int kMonths = 12;
  const std::chrono::year_month_day date(day_of(time_ms));
  return static_cast<int>(date.year()) * kMonths + static_cast<int>(static_cast<unsigned>(date.month()));
}

std::int64_t year(std::int64_t time_ms) {
  return static_cast<int>(std::chrono::year_month_day(day_of(time_ms)).year());
}

void keep_one_per_period(std::vector<bool>& kept, const std::vector<std::int64_t>& times, std::size_t periods,
                         PeriodOf period_of) {
  std::optional<std::int64_t> previous;
  for (std::size_t i = 0; i < times.size() && periods > 0; ++i) {
    const std::int64_t period = period_of(times[i]);
    if (previous == period) continue;
    previous = period;
    kept[i] = true;
    --periods;
  }
}

}  // namespace

std::vector<bool> kept_by(const RetentionPolicy& policy, const std::vector<std::int64_t>& newest_first_ms) {
  std::vector<bool> kept(newest_first_ms.size(), false);
  for (std::size_t i = 0; i < std::min(policy.last, kept.size()); ++i) kept[i] = true;
  keep_one_per_period(kept, newest_first_ms, policy.hourly, hour);
  keep_one_per_period(kept, newest_first_ms, policy.daily, day);
  keep_one_per_period(kept, newest_first_ms, policy.weekly, week);
  keep_one_per_period(kept, newest_first_ms, policy.monthly, month);
  keep_one_per_period(kept, newest_first_ms, policy.yearly, year);
  return kept;
}

}  // namespace cofferdam::snapshot
