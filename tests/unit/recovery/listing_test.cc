#include "recovery/listing.h"

#include <gmock/gmock.h>

#include "recovery/failure.h"

namespace cofferdam::recovery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string record(const std::string& path, const std::string& kind, const std::string& rest = "") {
  std::string out = path + '\0' + kind + '\0';
  const std::string fields = rest.empty() ? "644|5|1700000000.1234567890|1700000001.0000000000|66|7|1|" : rest;
  for (const char c : fields) out += c == '|' ? '\0' : c;
  return out + '\0';
}
std::string root() {
  return record("", "d", "755|0|1.0|1.0|66|2|3|");
}

TEST(ListingTest, ReadsWhatFindPrints) {
  const auto entries = parse_listing(record("b", "l", "777|3|-5.5|1|66|8|1|a/c") + root() + record("a\nb", "f"));
  ASSERT_TRUE(entries) << entries.error().to_string();
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[1], (SourceEntry{.path = "a\nb",
                                        .kind = SourceKind::kFile,
                                        .mode = 0644,
                                        .size = 5,
                                        .mtime_ns = 1'700'000'000'123'456'789,
                                        .ctime_ns = 1'700'000'001'000'000'000,
                                        .device = 66,
                                        .inode = 7,
                                        .links = 1}));
  EXPECT_EQ((*entries)[2].target, "a/c");
  EXPECT_EQ(find_source_entry(*entries, "b"), &(*entries)[2]);
  EXPECT_EQ(find_source_entry(*entries, "c"), nullptr);
}

TEST(ListingTest, RefusesWhatIsNoCompleteAnswer) {
  const std::string good = root() + record("a", "f");
  for (std::size_t cut = 1; cut < good.size(); ++cut) {
    const auto entries = parse_listing(std::string_view(good).substr(0, cut));
    if (cut == root().size()) continue;  // a whole answer, of an empty directory
    EXPECT_FALSE(entries) << cut;
  }
  for (const std::string& bad :
       {record("a", "f"), root() + root(), record("", "f"), root() + record("/a", "f"), root() + record("a/../b", "f"),
        root() + record("a//b", "f"), root() + record("a", "f", "9|5|1|1|66|7|1|"),
        root() + record("a", "f", "644|-5|1|1|66|7|1|"), root() + record("a", "f", "644|5|x|1|66|7|1|")}) {
    const auto entries = parse_listing(bad);
    ASSERT_FALSE(entries) << bad;
    EXPECT_THAT(entries.error().message(), StartsWith("workspace_capture_source_unreadable: "));
  }
}

TEST(ListingTest, ChangesAreFoundWhateverTheyAre) {
  const auto before = *parse_listing(root() + record("a", "f") + record("b", "f"));
  const auto changed = [&](const std::string& text) { return first_change(before, *parse_listing(text)); };
  EXPECT_EQ(changed(root() + record("a", "f") + record("b", "f")), std::nullopt);
  EXPECT_EQ(changed(record("", "d", "755|9|9.0|9.0|66|2|4|") + record("a", "f") + record("b", "f")), std::nullopt)
      << "what is left out changes the root's times";
  EXPECT_EQ(changed(record("", "d", "755|0|1.0|1.0|66|3|3|") + record("a", "f") + record("b", "f")), "");
  EXPECT_EQ(changed(root() + record("a", "f")), "b");
  EXPECT_EQ(changed(root() + record("a", "f") + record("aa", "f") + record("b", "f")), "aa");
  for (const char* other :
       {"600|5|1700000000.1234567890|1700000001|66|7|1|", "644|6|1700000000.1234567890|1700000001|66|7|1|",
        "644|5|1700000000.1234567891|1700000001|66|7|1|", "644|5|1700000000.123456788|1700000001|66|7|1|",
        "644|5|1700000000.1234567890|1700000002|66|7|1|", "644|5|1700000000.1234567890|1700000001|66|8|1|",
        "644|5|1700000000.1234567890|1700000001|66|7|2|"}) {
    const bool same = std::string(other).contains("1234567891");  // beyond nanoseconds
    EXPECT_EQ(changed(root() + record("a", "f") + record("b", "f", other)).has_value(), !same) << other;
  }
}

TEST(ListingTest, FindIsToldToPruneLiterally) {
  EXPECT_THAT(listing_command("/w", workspace::PathSet({"a*b"})),
              ElementsAre("find", "/w/.", "-xdev", "(", "-path", "/w/./a\\*b", ")", "-prune", "-o", "-printf",
                          HasSubstr("%P\\0%y")));
}

}  // namespace
}  // namespace cofferdam::recovery
