#include "git/index_file.h"

#include <gmock/gmock.h>

#include "system/file.h"
#include "unit/git/repositories.h"

namespace cofferdam::git {
namespace {

using testing::ElementsAre;

class IndexFileTest : public RepositoriesTest {
 protected:
  std::string index() const { return *system::read_file(host() + "/.git/index", 1U << 20); }
  std::vector<std::string> listed() const {
    std::vector<std::string> out;
    const std::string text = on_host("git ls-files -z");
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\0', begin) + 1) {
      out.emplace_back(text.c_str() + begin);
    }
    return out;
  }
  // What we read of the index is what git says of it.
  void expect_as_git(ObjectFormat format) const {
    const auto names = parse_index(index(), format);
    ASSERT_TRUE(names) << names.error().to_string();
    std::vector<std::string> paths;
    for (const IndexName& name : *names) paths.push_back(name.path);
    EXPECT_EQ(paths, listed());
  }
};

TEST_F(IndexFileTest, EveryVersionIsReadAsGitReadsIt) {
  make_host();
  on_host(
      "mkdir -p dir/deep 'sp ace' && touch dir/deep/x dir/deep/xy 'sp ace/new\nline' $(printf 'n%.0s' $(seq 200)) "
      "\"$(printf '\\377')\" && git add . && touch later && git add -N later");
  for (const char* version : {"2", "3", "4"}) {
    on_host(std::string("git update-index --index-version ") + version);
    expect_as_git(ObjectFormat::kSha1);
  }
}

TEST_F(IndexFileTest, Sha256AndConflicts) {
  make_host("--object-format=sha256");
  on_host(
      "git checkout -q -b other && echo o >a && git commit -qam o && git checkout -q main && echo m >a && "
      "git commit -qam m && ! git merge -q other");
  const auto names = parse_index(index(), ObjectFormat::kSha256);
  ASSERT_TRUE(names) << names.error().to_string();
  EXPECT_EQ(names->size(), 5U) << "three stages of one path";
}

TEST_F(IndexFileTest, SubmodulesHaveTheirMode) {
  make_host();
  on_host("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub");
  const auto names = parse_index(index(), ObjectFormat::kSha1);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->back(), (IndexName{.path = "sub", .mode = kGitlinkBits}));
}

TEST_F(IndexFileTest, ASplitIndexIsNotSupported) {
  make_host();
  on_host("git update-index --split-index");
  const auto names = parse_index(index(), ObjectFormat::kSha1);
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code(), ErrorCode::kUnsupported);
}

TEST_F(IndexFileTest, WhatIsCutOffOrAlteredNeverReadsBeyondItsEnd) {
  make_host();
  for (const char* version : {"2", "4"}) {
    on_host(std::string("git update-index --index-version ") + version);
    const std::string whole = index();
    // Behind the entries a cut may hit the end of an extension, which only the checksum could tell.
    const std::size_t entries = whole.find("TREE");
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      const auto names = parse_index(std::string_view(whole).substr(0, cut), ObjectFormat::kSha1);
      if (cut < entries) EXPECT_FALSE(names) << cut;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string altered = whole;
      altered[at] = static_cast<char>(altered[at] ^ 0xFF);
      (void)parse_index(altered, ObjectFormat::kSha1);
    }
  }
}

TEST_F(IndexFileTest, BoundsHoldAtTheirBound) {
  make_host();
  EXPECT_TRUE(parse_index(index(), ObjectFormat::kSha1, {.entries = 3, .path_bytes = 5}));
  for (const IndexBounds& bounds : {IndexBounds{.entries = 2}, IndexBounds{.path_bytes = 4}}) {
    const auto names = parse_index(index(), ObjectFormat::kSha1, bounds);
    ASSERT_FALSE(names);
    EXPECT_EQ(names.error().code(), ErrorCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace cofferdam::git
