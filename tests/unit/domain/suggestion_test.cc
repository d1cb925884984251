#include "domain/suggestion.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cofferdam::domain {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"memory", "open-files", "network", "claude_local"};

TEST(SuggestionTest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest_word("memry", kWords), "memory");
  EXPECT_EQ(nearest_word("MEMORY", kWords), "memory");
  EXPECT_EQ(nearest_word("open_files", kWords), "open-files");
  EXPECT_EQ(nearest_word("openfile", kWords), "open-files");
  EXPECT_EQ(nearest_word("claude", kWords), "claude_local");
  EXPECT_EQ(suggestion_for("netwrk", kWords), "did you mean \"network\"?");
}

TEST(SuggestionTest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word("zebra", kWords), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'm'), kWords), "");
  EXPECT_EQ(suggestion_for("zebra", kWords), "");
}

TEST(SuggestionTest, NearMissesAreCaseSeparatorsAndAFewLetters) {
  constexpr std::array<std::string_view, 1> kKey = {"networkAllowlist"};
  for (const char* word :
       {"networkAllowList", "network_allowlist", "networkallowlist", "networkAllowlists", "netwrkAllowlist"}) {
    EXPECT_TRUE(is_near_miss(word, kKey)) << word;
  }
  for (const char* word : {"networkPolicy", "allowlist", "network", "", "model"})
    EXPECT_FALSE(is_near_miss(word, kKey)) << word;
}

}  // namespace
}  // namespace cofferdam::domain
