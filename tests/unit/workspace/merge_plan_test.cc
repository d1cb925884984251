#include "workspace/merge_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge_model.h"
#include "tree_model.h"
#include "workspace/link_rule.h"

namespace cofferdam::workspace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

MergePlan plan(const Tree& base, const Tree& theirs, const Tree& ours, MergeOptions options = {}) {
  options.run_id = "run";
  auto made = plan_merge(entries_of(base), {.entries = entries_of(theirs)}, {.entries = entries_of(ours)}, options);
  EXPECT_TRUE(made) << made.error().to_string();
  return made.value_or(MergePlan());
}

MergePlan plan_preferring(Prefer prefer, const Tree& base, const Tree& theirs, const Tree& ours) {
  MergeOptions options;
  options.prefer = prefer;
  return plan(base, theirs, ours, options);
}

auto action(MergeVerb verb, const std::string& path) {
  return AllOf(Field(&MergeAction::verb, verb), Field(&MergeAction::path, path));
}
auto action(MergeVerb verb, const std::string& path, MergeReason reason) {
  return AllOf(action(verb, path), Field(&MergeAction::reason, reason));
}

TEST(MergePlanTest, TakesWhatOnlyTheSandboxChanged) {
  const Tree base = {{"keep", file("k")}, {"old", file("o")}, {"text", file("1")}, {"tool", file("t", 0644)}};
  const Tree theirs = {{"keep", file("k")}, {"new", file("n")}, {"text", file("2")}, {"tool", file("t", 0755)}};
  const MergePlan made = plan(base, theirs, base);
  EXPECT_THAT(made.actions, ElementsAre(action(MergeVerb::kDelete, "old", MergeReason::kDeletedInSandbox),
                                        action(MergeVerb::kAdd, "new", MergeReason::kNewInSandbox),
                                        action(MergeVerb::kUpdate, "text", MergeReason::kChangedInSandbox),
                                        action(MergeVerb::kSetMode, "tool", MergeReason::kChangedInSandbox)));
  EXPECT_EQ(made.counts, (MergeCounts{.added = 1, .updated = 1, .deleted = 1, .modes = 1}));
}

TEST(MergePlanTest, NeverDeletesWhatWasNotSent) {
  const Tree ours = {{"proj", folder()}, {"proj/.git", folder()}, {"proj/.git/HEAD", file("ref")}};
  EXPECT_THAT(plan({}, {}, ours).actions, IsEmpty());
  EXPECT_THAT(plan({{"proj", folder()}}, {}, ours).actions,
              ElementsAre(action(MergeVerb::kKeep, "proj", MergeReason::kDirectoryNotEmpty)));
}

TEST(MergePlanTest, KeepsBothVersionsOfAConflict) {
  const MergePlan made = plan({{"a.txt", file("0")}}, {{"a.txt", file("theirs")}}, {{"a.txt", file("ours")}});
  ASSERT_THAT(made.actions, ElementsAre(action(MergeVerb::kMoveAside, "a.txt"), action(MergeVerb::kAdd, "a.txt")));
  EXPECT_EQ(made.actions[0].copy_path, "a.conflict-host-run-1.txt");
  EXPECT_EQ(made.counts.conflicts, 1U);
}

TEST(MergePlanTest, PrefersASideWhenTold) {
  const Tree base = {{"a", file("0")}};
  const Tree theirs = {{"a", file("theirs")}};
  const Tree ours = {{"a", file("ours")}};
  EXPECT_THAT(plan_preferring(Prefer::kSandbox, base, theirs, ours).actions,
              ElementsAre(action(MergeVerb::kUpdate, "a")));
  EXPECT_THAT(plan_preferring(Prefer::kHost, base, theirs, ours).actions,
              ElementsAre(action(MergeVerb::kKeep, "a", MergeReason::kBothChanged)));
}

TEST(MergePlanTest, DeletionOnOneSideLosesToAChangeOnTheOther) {
  const Tree base = {{"a", file("0")}};
  EXPECT_THAT(plan(base, {{"a", file("1")}}, {}).actions,
              ElementsAre(action(MergeVerb::kAdd, "a", MergeReason::kHostDeletedSandboxChanged)));
  EXPECT_THAT(plan(base, {}, {{"a", file("1")}}).actions,
              ElementsAre(action(MergeVerb::kKeep, "a", MergeReason::kHostChangedSandboxDeleted)));
}

TEST(MergePlanTest, EqualChangesOnBothSidesNeedNothing) {
  EXPECT_THAT(plan({{"a", file("0")}}, {{"a", file("1")}}, {{"a", file("1")}}).actions, IsEmpty());
  EXPECT_THAT(plan({{"a", file("0")}}, {}, {}).actions, IsEmpty());
}

TEST(MergePlanTest, ContentOfOneSideAndModeOfTheOtherAreNoConflict) {
  const MergePlan made = plan({{"a", file("0", 0644)}}, {{"a", file("1", 0644)}}, {{"a", file("0", 0755)}});
  ASSERT_THAT(made.actions, ElementsAre(action(MergeVerb::kUpdate, "a")));
  EXPECT_EQ(made.actions[0].after->mode, 0755U);
}

TEST(MergePlanTest, ADirectoryBecomesAFileAndBack) {
  const Tree as_directory = {{"a", folder()}, {"a/b", file("b")}};
  const Tree as_file = {{"a", file("f")}};
  EXPECT_THAT(plan(as_directory, as_file, as_directory).actions,
              ElementsAre(action(MergeVerb::kDelete, "a/b"), action(MergeVerb::kRemoveDirectory, "a"),
                          action(MergeVerb::kAdd, "a")));
  EXPECT_THAT(plan(as_file, as_directory, as_file).actions,
              ElementsAre(action(MergeVerb::kDelete, "a"), action(MergeVerb::kMakeDirectory, "a"),
                          action(MergeVerb::kAdd, "a/b")));
}

TEST(MergePlanTest, AHostFileInAReplacedDirectoryMovesAsideWithIt) {
  const Tree base = {{"a", folder()}, {"a/b", file("b")}};
  Tree ours = base;
  ours["a/mine"] = file("mine");
  const Tree result = carried_out(plan(base, {{"a", file("f")}}, ours), {{"a", file("f")}}, ours);
  EXPECT_EQ(
      to_text(result),
      to_text({{"a", file("f")}, {"a.conflict-host-run-1", folder()}, {"a.conflict-host-run-1/mine", file("mine")}}));
}

TEST(MergePlanTest, RefusesLinksThatLeaveTheTree) {
  for (const char* target : {"/etc/passwd", "../x", "d/../../x", "..", "d/../x"}) {
    const MergePlan made = plan({{"l", file("0")}}, {{"l", symlink_to(target)}}, {{"l", file("0")}});
    EXPECT_THAT(made.actions, ElementsAre(action(MergeVerb::kKeep, "l", MergeReason::kLinkNotConfined))) << target;
    EXPECT_EQ(made.counts.refused, 1U);
  }
  EXPECT_THAT(plan({}, {{"d", folder()}, {"d/l", symlink_to("../x/y")}}, {}).actions,
              Contains(action(MergeVerb::kAdd, "d/l")));
  const Tree same = {{"l", symlink_to("/etc/passwd")}};
  EXPECT_THAT(plan(same, same, same).actions, IsEmpty()) << "the host's own link that came back unchanged";
}

TEST(MergePlanTest, ARefusedLinkInThePlaceOfADirectoryDeletesNothingInIt) {
  const Tree base = {{"d", folder()}, {"d/a", file("a")}};
  EXPECT_THAT(plan(base, {{"d", symlink_to("/tmp")}}, base).actions,
              ElementsAre(action(MergeVerb::kKeep, "d", MergeReason::kLinkNotConfined)));
}

TEST(MergePlanTest, HeavyDirectoriesStayUnlessTracked) {
  MergeOptions options;
  options.leave_heavy_directories = true;
  options.is_tracked = [](const std::string& path) { return path == "vendor/lib.c"; };
  const Tree base = {{"vendor", folder()}, {"vendor/lib.c", file("1")}};
  Tree theirs = base;
  theirs["vendor/lib.c"] = file("2");
  theirs["vendor/other.c"] = file("new");
  theirs["sub"] = folder();
  theirs["sub/node_modules"] = folder();
  theirs["sub/node_modules/x"] = file("x");
  const MergePlan made = plan(base, theirs, base, options);
  EXPECT_THAT(made.actions,
              ElementsAre(action(MergeVerb::kMakeDirectory, "sub"), action(MergeVerb::kUpdate, "vendor/lib.c"),
                          action(MergeVerb::kKeep, "sub/node_modules", MergeReason::kHeavyDirectory),
                          action(MergeVerb::kKeep, "vendor/other.c", MergeReason::kHeavyDirectory)));
  EXPECT_EQ(made.counts.left, 3U);
}

TEST(MergePlanTest, ExcludedPathsAreNeitherWrittenNorDeleted) {
  MergeOptions options;
  options.excluded.add(".paperclip-runtime");
  const Tree base = {{".paperclip-runtime", folder()}, {".paperclip-runtime/a", file("1")}};
  EXPECT_THAT(plan(base, {}, base, options).actions, IsEmpty());
  EXPECT_THAT(plan({}, base, {}, options).actions, IsEmpty());
}

TEST(MergePlanTest, OpensAReadOnlyDirectoryForWhatChangesInIt) {
  const Tree base = {{"d", folder(0555)}, {"d/a", file("1")}};
  Tree theirs = base;
  theirs["d/a"] = file("2");
  const MergePlan made = plan(base, theirs, base);
  ASSERT_THAT(made.actions, ElementsAre(action(MergeVerb::kSetMode, "d"), action(MergeVerb::kUpdate, "d/a"),
                                        action(MergeVerb::kSetMode, "d")));
  EXPECT_EQ(made.actions[0].after->mode, 0755U);
  EXPECT_EQ(made.actions[2].after->mode, 0555U);
}

TEST(MergePlanTest, SpecialBitsNeverLand) {
  Entry entry = entry_of("a", file("x", 0755));
  entry.mode |= 04000;
  const auto made = plan_merge({}, {.entries = {entry}, .stripped_modes = {"a"}}, {}, {.run_id = "r"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->actions[0].after->mode, 0755U);
  EXPECT_THAT(made->actions, Contains(action(MergeVerb::kKeep, "a", MergeReason::kSpecialModeDropped)));
}

TEST(MergePlanTest, RefusesBadInput) {
  EXPECT_FALSE(plan_merge({}, {}, {}, {.run_id = "../x"}));
  EXPECT_FALSE(plan_merge({}, {}, {}, {}));
  const std::vector<Entry> unsorted = {entry_of("b", file("")), entry_of("a", file(""))};
  EXPECT_FALSE(plan_merge(unsorted, {}, {}, {.run_id = "r"}));
}

TEST(MergePlanTest, ConflictCopiesHaveFreeAndShortNames) {
  EXPECT_EQ(conflict_copy_path("d/a.tar.gz", "r", 2, false), "d/a.tar.conflict-host-r-2.gz");
  EXPECT_EQ(conflict_copy_path(".bashrc", "r", 1, false), ".bashrc.conflict-host-r-1");
  EXPECT_EQ(conflict_copy_path("v1.2", "r", 1, true), "v1.2.conflict-host-r-1");
  const std::string long_name = conflict_copy_path(std::string(251, 'x') + ".txt", std::string(64, 'r'), 12, false);
  EXPECT_EQ(long_name.size(), 255U);
  EXPECT_TRUE(long_name.ends_with("-12.txt"));
  // Not within a character of two bytes.
  const std::string wide = conflict_copy_path("x" + std::string(120, 'y') + std::string(134, '\xc3'), "r", 1, false);
  EXPECT_LE(wide.size(), 255U);
  const Tree ours = {{"a", file("ours")}, {"a.conflict-host-run-1", file("taken")}};
  const MergePlan made = plan({{"a", file("0")}}, {{"a", file("theirs")}}, ours);
  EXPECT_EQ(made.actions.at(0).copy_path, "a.conflict-host-run-2");
}

TEST(LinkRuleTest, KnowsWhatStaysInside) {
  EXPECT_TRUE(link_stays_inside("l", "a/b"));
  EXPECT_TRUE(link_stays_inside("a/b/l", "../../c"));
  EXPECT_TRUE(link_stays_inside("l", "a/../b"));
  EXPECT_FALSE(link_is_confined("l", "a/../b"));
  EXPECT_FALSE(link_stays_inside("l", ""));
  EXPECT_FALSE(link_stays_inside("l", "/"));
  EXPECT_FALSE(link_stays_inside("a/l", "../.."));
  EXPECT_FALSE(link_stays_inside("a/l", "x/../../../y"));
  EXPECT_TRUE(link_is_confined("a/l", ".././/b"));
}

// The properties hold for every tree that the draw makes; a failure prints its seed.
class MergePropertyTest : public ::testing::TestWithParam<Prefer> {};

void expect_tree(const Tree& tree) {
  for (const auto& [path, thing] : tree) EXPECT_TRUE(has_directory_above(tree, path)) << path;
}

TEST_P(MergePropertyTest, HoldsForManyTrees) {
  for (std::uint32_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    TreeDraw draw(seed);
    const Tree base = draw.tree();
    const Tree theirs = draw.changed(base);
    const Tree ours = draw.changed(base);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\nbase\n" + to_text(base) + "theirs\n" + to_text(theirs) + "ours\n" +
                 to_text(ours));
    const MergePlan made = plan_preferring(GetParam(), base, theirs, ours);
    const Tree result = carried_out(made, theirs, ours);
    expect_tree(result);
    if (GetParam() != Prefer::kSandbox) expect_nothing_lost(base, ours, result);
    EXPECT_TRUE(plan_preferring(GetParam(), base, base, ours).changes_nothing());
    EXPECT_EQ(to_text(carried_out(plan_preferring(GetParam(), base, theirs, base), theirs, base)), to_text(theirs));
    EXPECT_TRUE(plan_preferring(GetParam(), base, theirs, result).changes_nothing()) << "result\n" << to_text(result);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPreference, MergePropertyTest,
                         ::testing::Values(Prefer::kBoth, Prefer::kSandbox, Prefer::kHost));

}  // namespace
}  // namespace cofferdam::workspace
