#include "git/config_file.h"

#include <gmock/gmock.h>

namespace cofferdam::git {
namespace {

std::string names_and_values(std::string_view text) {
  const auto settings = parse_config(text);
  if (!settings) return "error: " + settings.error().message();
  std::string out;
  for (const ConfigSetting& setting : *settings) {
    out += setting.name() + (setting.has_value ? "=" + setting.value : "") + "\n";
  }
  return out;
}

TEST(ConfigFile, ReadsSectionsSubsectionsAndTheirCase) {
  EXPECT_EQ(names_and_values("[CORE]\n\tBare = False\n[remote \"Or\\\"i\\\\gin\"] URL=x\n[Old.Style]\nKey\n"),
            "core.bare=False\nremote.Or\"i\\gin.url=x\nold.style.key\n");
}

TEST(ConfigFile, ReadsQuotesEscapesCommentsAndContinuedLines) {
  EXPECT_EQ(names_and_values("[a]\n"
                             "k1 =   one \t two   # comment\n"
                             "k2 = \"a # b\" ; more\n"
                             "k3 = x\\\n y\n"
                             "k4 = \\t\\n\\\"\\\\\n"
                             "# [b]\n"
                             "k5=\r\n"),
            "a.k1=one   two\na.k2=a # b\na.k3=x y\na.k4=\t\n\"\\\na.k5=\n");
}

TEST(ConfigFile, RefusesWhatGitRefuses) {
  for (const char* text : {"key = before section\n", "[a\nk=v\n", "[a]\nk = \"open\n", "[a]\nk = \\x\n", "[a]\n=v\n",
                           "[a \"b]\nk=v\n", "[a]\nk # comment\n", "[]\n", "[a \"b\" ]\n"}) {
    EXPECT_THAT(names_and_values(text), testing::StartsWith("error: bad Git configuration in line")) << text;
  }
  EXPECT_THAT(names_and_values(std::string_view("[a]\nk = \0\n", 9)), testing::StartsWith("error: "));
}

TEST(ConfigFile, HasBounds) {
  EXPECT_TRUE(parse_config("[a]\nk=1\nk=2\n", {.settings = 2}));
  EXPECT_EQ(parse_config("[a]\nk=1\nk=2\n", {.settings = 1}).error().code(), ErrorCode::kResourceExhausted);
  EXPECT_TRUE(parse_config("[a]\n", {.bytes = 4}));
  EXPECT_EQ(parse_config("[a]\n", {.bytes = 3}).error().code(), ErrorCode::kResourceExhausted);
}

TEST(ConfigFile, WhatIsRenderedIsReadBack) {
  const auto settings = parse_config("[a \"x\\\"]\\\\\"]\nk = \" v;#\\t\\n\\\\\\\"\"\nflag\n[b]\nempty=\n[a]\nk=2\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(*parse_config(render_config(*settings)), *settings);
}

}  // namespace
}  // namespace cofferdam::git
