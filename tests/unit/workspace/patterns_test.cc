#include "workspace/patterns.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.h"
#include "tree_model.h"

namespace cofferdam::workspace {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST(PatternsTest, LiteralsAreAnchoredAndTakenAsTheyAre) {
  ExcludeRules rules;
  rules.add_literal("run.sock");
  rules.add_literal("*");
  EXPECT_TRUE(rules.covers("run.sock"));
  EXPECT_TRUE(rules.covers("*/below"));
  EXPECT_FALSE(rules.covers("sub/run.sock"));
  EXPECT_FALSE(rules.covers("anything"));
}

TEST(PatternsTest, PatternsMeanWhatPaperclipsMergeMeans) {
  const auto covers = [](const std::string& pattern, const std::string& path) {
    ExcludeRules rules;
    rules.add_pattern(pattern);
    return rules.covers(path);
  };
  EXPECT_TRUE(covers("dist", "dist"));
  EXPECT_TRUE(covers("dist", "dist/a"));
  EXPECT_FALSE(covers("dist", "sub/dist"));
  EXPECT_FALSE(covers("dist", "distant"));
  EXPECT_TRUE(covers("dist/*", "dist/a/b"));
  EXPECT_FALSE(covers("dist/*", "dist"));
  EXPECT_TRUE(covers("*/dist", "dist"));
  EXPECT_TRUE(covers("*/dist", "a/dist/b"));
  EXPECT_TRUE(covers("*/dist/*", "a/dist/b"));
  EXPECT_FALSE(covers("*/dist/*", "a/dist"));
  EXPECT_TRUE(covers("._*", "a/._x"));
  EXPECT_TRUE(covers("*.log", "a/b.log"));
  EXPECT_TRUE(covers("a*c", "ab/xc"));
  EXPECT_FALSE(covers("*.log", "a.log.txt"));
}

TEST(PatternsTest, KnowsHeavyDirectoriesAtEveryDepth) {
  EXPECT_TRUE(in_heavy_directory("node_modules"));
  EXPECT_TRUE(in_heavy_directory("a/vendor/lib.c"));
  EXPECT_FALSE(in_heavy_directory("a/vendored/lib.c"));
  EXPECT_EQ(heavy_directory_patterns().size(), 36U);
  EXPECT_THAT(heavy_directory_patterns(), IsSupersetOf({".next", ".next/*", "*/.next", "*/.next/*"}));
}

const Tree kOddNames = {{"*", file("")},         {"a", folder()},          {"a/run.sock", file("")},
                        {"a[1]", folder()},      {"a[1]/x", file("")},     {"a1", file("")},
                        {"a\\b", file("")},      {"ab", file("")},         {"-dash", file("")},
                        {"new\nline", file("")}, {"q?", file("")},         {"qq", file("")},
                        {"run.sock", file("")},  {"sub", folder()},        {"sub/*", file("")},
                        {"sub/dist", folder()},  {"sub/dist/x", file("")}, {"\xff", file("")}};

std::vector<std::string> not_covered(const ExcludeRules& rules) {
  std::vector<std::string> paths;
  for (const auto& [path, thing] : kOddNames) {
    if (!rules.covers(path)) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> names_in_archive(const std::string& root, const ExcludeRules& rules) {
  const std::vector<std::string> excludes = tar_exclude_arguments(rules);
  std::vector<std::string> arguments = {"tar", "--no-unquote", "-c", "-f", "-"};
  arguments.insert(arguments.end(), excludes.begin(), excludes.end());
  arguments.emplace_back("--");
  for (const auto& [path, thing] : kOddNames) {
    if (!path.contains('/')) arguments.push_back(path);
  }
  const auto unpacked = system::TemporaryDirectory::create(::testing::TempDir(), "patterns-");
  const Ran archive = run_program(root, arguments);
  EXPECT_EQ(archive.exit_code, 0);
  EXPECT_EQ(run_program(unpacked->path(), {"tar", "-x", "-f", "-"}, archive.out).exit_code, 0);
  std::vector<std::string> names;
  for (const auto& [path, thing] : read_tree(unpacked->path())) names.push_back(path);
  return names;
}

TEST(PatternsTest, TarLeavesOutExactlyWhatTheRulesCover) {
  const auto root = system::TemporaryDirectory::create(::testing::TempDir(), "patterns-");
  write_tree(root->path(), kOddNames);
  for (const auto& [path, thing] : kOddNames) {
    ExcludeRules rules;
    rules.add_literal(path);
    EXPECT_EQ(names_in_archive(root->path(), rules), not_covered(rules)) << printable(path);
  }
  for (const char* pattern : {"a?", "._*", "*.sock", "[ab]1"}) {
    ExcludeRules rules;
    rules.add_pattern(pattern);
    rules.add_literal("qq");
    EXPECT_EQ(names_in_archive(root->path(), rules), not_covered(rules)) << pattern;
  }
}

TEST(PatternsTest, FindPrunesExactlyTheLiteralPaths) {
  EXPECT_THAT(find_prune_arguments(".", PathSet()), IsEmpty());
  const auto root = system::TemporaryDirectory::create(::testing::TempDir(), "patterns-");
  write_tree(root->path(), kOddNames);
  PathSet literals({"*", "a[1]", "a\\b", "q?", "run.sock"});
  std::vector<std::string> arguments = {"find", ".", "-mindepth", "1"};
  const std::vector<std::string> prune = find_prune_arguments(".", literals);
  arguments.insert(arguments.end(), prune.begin(), prune.end());
  arguments.emplace_back("-print0");
  const Ran ran = run_program(root->path(), arguments);
  std::vector<std::string> found;
  for (const std::string_view name : split(ran.out, '\0')) {
    if (!name.empty()) found.emplace_back(name.substr(2));
  }
  std::ranges::sort(found);
  ExcludeRules rules;
  for (const std::string& path : literals.paths()) rules.add_literal(path);
  EXPECT_EQ(found, not_covered(rules));
}

}  // namespace
}  // namespace cofferdam::workspace
