#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cofferdam::cli {
namespace {

using testing::ElementsAre;

Arguments parsed(const std::vector<std::string>& words) {
  auto arguments = parse_arguments(*find_verb("run"), words);
  if (!arguments) {
    ADD_FAILURE() << arguments.error().to_string();
    return {};
  }
  return std::move(*arguments);
}

std::vector<std::string> values(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> out;
  for (const Arguments::Value& value : arguments.values) {
    if (value.option == option) out.push_back(value.text);
  }
  return out;
}

TEST(ArgumentsTest, ValuesMayBeJoinedOrApart) {
  EXPECT_THAT(values(parsed({"--ro", "/a", "--ro=/b", "--", "x"}), "ro"), ElementsAre("/a", "/b"));
}

TEST(ArgumentsTest, AnOptionTakesExactlyOneWord) {
  EXPECT_FALSE(parse_arguments(*find_verb("run"), {"--ro", "/a", "/b", "--", "x"}));
}

TEST(ArgumentsTest, ValuesKeepWhatTheyHold) {
  EXPECT_THAT(values(parsed({"--env", "A=b c=d", "--env=B=", "--env", "C=[x]", "--env", "D='q'", "--", "x"}), "env"),
              ElementsAre("A=b c=d", "B=", "C=[x]", "D='q'"));
  EXPECT_THAT(values(parsed({"--ro=a,b", "--ro", "[x,y]", "--", "x"}), "ro"), ElementsAre("a,b", "[x,y]"));
}

TEST(ArgumentsTest, ShortOptions) {
  EXPECT_TRUE(parsed({"-q", "--", "x"}).has("quiet"));
  const auto explain = parse_arguments(*find_verb("explain"), {"-ojson", "--", "x"});
  ASSERT_TRUE(explain);
  EXPECT_EQ(explain->value("output"), "json");
}

TEST(ArgumentsTest, TheCommandIsLeftAlone) {
  EXPECT_THAT(parsed({"--", "x", "--ro", "/a", "--", "", "-h", "--network=open"}).command,
              ElementsAre("x", "--ro", "/a", "--", "", "-h", "--network=open"));
  EXPECT_FALSE(parsed({"--", "x", "--help"}).has("help"));
}

TEST(ArgumentsTest, AValueMayNotSwallowTheDashes) {
  EXPECT_FALSE(parse_arguments(*find_verb("run"), {"--ro", "--", "x"}));
}

TEST(ArgumentsTest, ManyValues) {
  std::vector<std::string> words;
  for (int i = 0; i < 5'000; ++i) words.insert(words.end(), {"--allow", "h" + std::to_string(i) + ".example.com"});
  words.insert(words.end(), {"--", "x"});
  EXPECT_EQ(values(parsed(words), "allow").size(), 5'000U);
}

}  // namespace
}  // namespace cofferdam::cli
