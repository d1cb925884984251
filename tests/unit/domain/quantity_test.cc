#include "domain/quantity.h"

#include <gtest/gtest.h>

#include <string>

namespace cofferdam::domain {
namespace {

using std::chrono::milliseconds;

TEST(SizeTest, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_size("1"), 1U);
  EXPECT_EQ(parse_size("512"), 512U);
  EXPECT_EQ(parse_size("7B"), 7U);
  EXPECT_EQ(parse_size("1k"), 1024U);
  EXPECT_EQ(parse_size("512M"), 512U << 20);
  EXPECT_EQ(parse_size("2GiB"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("2gb"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("1T"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_size("9223372036854775807"), 9223372036854775807U);
}

TEST(SizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"",
                           "M",
                           "0",
                           "0M",
                           "-1",
                           "+1",
                           "1.5G",
                           "1 M",
                           " 1M",
                           "1M ",
                           "1MM",
                           "1Mi",
                           "1P",
                           "3Q",
                           "1e3",
                           "0x10",
                           "9223372036854775808",
                           "18446744073709551616",
                           "8388608T",
                           "1kib!"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(DurationTest, AddsFallingUnits) {
  EXPECT_EQ(parse_duration("90s"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("90"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("10m"), milliseconds(600'000));
  EXPECT_EQ(parse_duration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("1d2h3m4s5ms"), milliseconds(93'784'005));
  EXPECT_EQ(parse_duration("3650d"), milliseconds(std::int64_t{3650} * 86'400'000));
}

TEST(DurationTest, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "s", "0", "0s", "-1s", "1.5h", "1 h", "30m1h", "1h1h", "1x", "1hm", "1h30", "3651d",
                           "99999999999999999999s", "18446744073709551615", "3650d1s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(CountTest, WholeNumbersAboveZero) {
  EXPECT_EQ(parse_count("1"), 1U);
  EXPECT_EQ(parse_count("4096"), 4096U);
  for (const char* text : {"", "0", "-1", "1.0", "1k", " 1", "9223372036854775808"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(CpusTest, DecimalNumbers) {
  EXPECT_EQ(parse_cpus("2"), 2.0);
  EXPECT_EQ(parse_cpus("0.5"), 0.5);
  EXPECT_EQ(parse_cpus("1.25"), 1.25);
  for (const char* text : {"", "0", "0.001", "-1", "1e2", "inf", "nan", "1,5", "two", "1.2.3", "."}) {
    EXPECT_FALSE(parse_cpus(text)) << text;
  }
}

}  // namespace
}  // namespace cofferdam::domain
