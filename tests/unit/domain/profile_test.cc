#include "domain/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "domain/profile_apply.h"

namespace cofferdam::domain {
namespace {

using testing::ElementsAre;

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Profile& profile : profiles()) out.emplace_back(profile.name);
  return out;
}

TEST(ProfileTest, TheSixAdaptersOfPaperclip) {
  EXPECT_THAT(names(),
              ElementsAre("claude_local", "codex_local", "gemini_local", "cursor_local", "opencode_local", "pi_local"));
}

TEST(ProfileTest, EveryHostIsAValidRule) {
  for (const Profile& profile : profiles()) {
    const auto rules = host_rules(profile);
    ASSERT_TRUE(rules) << rules.error().to_string();
    EXPECT_EQ(rules->size(), profile.hosts.size());
    for (const NetworkRule& rule : *rules) EXPECT_EQ(rule.target, NetworkRule::Target::kHost) << rule.text;
  }
}

// Environment keys of the reference (kubernetes-provider.md §1.4).
TEST(ProfileTest, PassesAtLeastTheKeysOfTheAdapterTable) {
  const std::vector<std::pair<std::string, std::set<std::string_view>>> expected = {
      {"claude_local", {"ANTHROPIC_API_KEY"}},
      {"codex_local", {"OPENAI_API_KEY"}},
      {"gemini_local", {"GOOGLE_API_KEY", "GEMINI_API_KEY"}},
      {"cursor_local", {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}},
      {"opencode_local", {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"}},
      {"pi_local", {"ANTHROPIC_API_KEY"}},
  };
  for (const auto& [name, keys] : expected) {
    const auto profile = find_profile(name);
    ASSERT_TRUE(profile);
    const std::set<std::string_view> passed((*profile)->pass.begin(), (*profile)->pass.end());
    for (const std::string_view key : keys) EXPECT_TRUE(passed.contains(key)) << name << " " << key;
  }
}

TEST(ProfileTest, GuardedPathsAreRelativeAndUnique) {
  for (const Profile& profile : profiles()) {
    EXPECT_FALSE(profile.directories.empty()) << profile.name;
    EXPECT_FALSE(profile.ca_variables.empty()) << profile.name;
    for (const Profile::HomeDirectory& directory : profile.directories) {
      std::set<std::string_view> seen;
      EXPECT_FALSE(directory.guarded.empty() && directory.path != ".pi") << directory.path;
      for (const Profile::Guarded& guarded : directory.guarded) {
        EXPECT_FALSE(guarded.path.starts_with('/')) << guarded.path;
        EXPECT_TRUE(seen.insert(guarded.path).second) << guarded.path;
      }
    }
  }
}

TEST(ProfileTest, AnUnknownNameListsTheKnownOnes) {
  const auto profile = find_profile("claude");
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().hint(), "did you mean \"claude_local\"?");
}

}  // namespace
}  // namespace cofferdam::domain
