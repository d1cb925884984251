#include "domain/moment.h"

#include <gtest/gtest.h>

namespace cofferdam::domain {
namespace {

std::string read_back(std::string_view text) {
  const auto moment = parse_moment(text);
  return moment ? moment_text(*moment) : "refused";
}

TEST(MomentTest, ReadsWhatItWritesAndShorterForms) {
  EXPECT_EQ(read_back("2026-12-03T05:08:26.123Z"), "2026-12-03T05:08:26.123Z");
  EXPECT_EQ(read_back("2026-12-03T05:08:26.123"), "2026-12-03T05:08:26.123Z");
  EXPECT_EQ(read_back("2026-12-03T05:08:26"), "2026-12-03T05:08:26.000Z");
  EXPECT_EQ(read_back("2026-12-03T05:08Z"), "2026-12-03T05:08:00.000Z");
  EXPECT_EQ(read_back("2028-02-29"), "2028-02-29T00:00:00.000Z");
  EXPECT_EQ(read_back("1970-01-01"), "1970-01-01T00:00:00.000Z");
}

TEST(MomentTest, RefusesEverythingElse) {
  for (const char* text :
       {"", "Z", "2026", "2026-12", "2026-13-01", "2026-02-29", "2026-12-03T", "2026-12-03T05", "2026-12-03T24:00",
        "2026-12-03T05:60", "2026-12-03T05:08:60", "2026-12-03 05:08", "2026-12-03T05:08:26,123", "2026/12/03",
        "+026-12-03", "2026-12-03T05:08+01", "2026-12-03T05:08:26.1234", "yesterday"}) {
    EXPECT_EQ(read_back(text), "refused") << text;
  }
}

}  // namespace
}  // namespace cofferdam::domain
