#include "snapshot/retention.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cofferdam::snapshot {
namespace {

using namespace std::chrono_literals;

std::int64_t at(int year, unsigned month, unsigned day, int hour = 0) {
  const std::chrono::sys_days date = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return std::chrono::duration_cast<std::chrono::milliseconds>(date.time_since_epoch()).count() + hour * 3'600'000LL;
}

TEST(RetentionTest, LastOnes) {
  EXPECT_EQ(kept_by({.last = 2}, {30, 20, 10}), (std::vector{true, true, false}));
  EXPECT_EQ(kept_by({.last = 9}, {30, 20}), (std::vector{true, true}));
}

TEST(RetentionTest, TheNewestOfADayStandsForIt) {
  const std::vector<std::int64_t> times = {at(2026, 12, 3, 9), at(2026, 12, 3, 1), at(2026, 12, 1, 5),
                                           at(2026, 11, 30)};
  EXPECT_EQ(kept_by({.daily = 2}, times), (std::vector{true, false, true, false}));
  EXPECT_EQ(kept_by({.hourly = 3}, times), (std::vector{true, true, true, false}));
}

TEST(RetentionTest, WeeksBeginOnMonday) {
  // 2026-11-30 is a Monday.
  const std::vector<std::int64_t> times = {at(2026, 12, 6), at(2026, 11, 30), at(2026, 11, 29), at(2026, 11, 23)};
  EXPECT_EQ(kept_by({.weekly = 2}, times), (std::vector{true, false, true, false}));
}

TEST(RetentionTest, RulesAddUp) {
  const std::vector<std::int64_t> times = {at(2026, 3, 2), at(2026, 3, 1), at(2026, 2, 1), at(2025, 6, 1)};
  EXPECT_EQ(kept_by({.last = 1, .monthly = 2}, times), (std::vector{true, false, true, false}));
  EXPECT_EQ(kept_by({.yearly = 2}, times), (std::vector{true, false, false, true}));
  EXPECT_TRUE(RetentionPolicy{}.keeps_nothing());
}

}  // namespace
}  // namespace cofferdam::snapshot
