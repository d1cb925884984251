#include "workspace/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree_model.h"

namespace cofferdam::workspace {
namespace {

using ::testing::HasSubstr;

std::string with_entry(const std::string& entry) {
  return R"({"version":1,"exclude":[],"entries":[)" + entry + "]}";
}

TEST(BaselineTest, ComesBackAsItWas) {
  Baseline baseline{.exclude = {".git", "*/dist"},
                    .entries = entries_of({{"-dash", file("x", 0600)},
                                           {"bad\xff name", file("y")},
                                           {"d", folder(0750)},
                                           {"d/new\nline", file("z")},
                                           {"l", symlink_to("odd\xfetarget")}})};
  const auto parsed = parse_baseline(to_json(baseline));
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->exclude, baseline.exclude);
  ASSERT_EQ(parsed->entries.size(), baseline.entries.size());
  for (std::size_t at = 0; at < baseline.entries.size(); ++at) {
    EXPECT_TRUE(parsed->entries[at].same_content(baseline.entries[at])) << baseline.entries[at].path;
  }
  EXPECT_EQ(digest_of(*parsed), digest_of(baseline));
  baseline.entries[0].mode = 0644;
  EXPECT_NE(digest_of(*parsed), digest_of(baseline));
}

TEST(BaselineTest, RefusesWhatIsNoBaseline) {
  const std::string digest(64, 'a');
  const std::string good = R"({"path":"a","kind":"file","mode":420,"size":1,"sha256":")" + digest + "\"}";
  EXPECT_TRUE(parse_baseline(with_entry(good)));
  for (const std::string& bad :
       {std::string(R"({"path":"/etc/passwd","kind":"dir","mode":493})"),
        std::string(R"({"path":"../x","kind":"dir","mode":493})"),
        std::string(R"({"path":"a/../x","kind":"dir","mode":493})"),
        std::string(R"({"path":"a//b","kind":"dir","mode":493})"),
        std::string(R"({"path":"","kind":"dir","mode":493})"), std::string(R"({"path":"a/","kind":"dir","mode":493})"),
        std::string(R"({"path":"a","kind":"pipe","mode":493})"),
        std::string(R"({"path":"a","kind":"dir","mode":2541})"),
        std::string(R"({"path":"a","kind":"dir","mode":493,"owner":0})"),
        std::string(R"({"path":"a","kind":"symlink"})"),
        std::string(R"({"path":"a","pathHex":"62","kind":"dir","mode":493})"), std::string("[]"),
        std::string(R"({"path":"a","kind":"file","mode":420,"size":1,"sha256":"abc"})"),
        std::string(R"({"path":"a","kind":"file","mode":420,"size":-1,"sha256":")" + digest + "\"}"),
        good + "," + good}) {
    const auto refused = parse_baseline(with_entry(bad));
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code(), ErrorCode::kDataLoss);
  }
  for (const char* bad : {"", "[]", "{}", R"({"version":1,"exclude":[],"entries":{}})", "{\"version\":1"}) {
    EXPECT_FALSE(parse_baseline(bad)) << bad;
  }
  const auto later = parse_baseline(R"({"version":2,"manifest":"x"})");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace cofferdam::workspace
