#include "workspace/merge_apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <functional>

#include "merge_model.h"
#include "tree_model.h"

namespace cofferdam::workspace {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Does something at the chosen step, counted from 1.
class AtStep : public FaultPoint {
 public:
  AtStep(int step, std::function<Status()> deed) : step_(step), deed_(std::move(deed)) {}
  Status before(std::string_view name) override {
    names_.emplace_back(name);
    return ++count_ == step_ ? deed_() : Status();
  }
  int count() const { return count_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  int step_;
  std::function<Status()> deed_;
  int count_ = 0;
  std::vector<std::string> names_;
};

// Does something each time before a step of one name.
class BeforeStep : public FaultPoint {
 public:
  BeforeStep(std::string name, std::function<void()> deed) : name_(std::move(name)), deed_(std::move(deed)) {}
  Status before(std::string_view name) override {
    if (name == name_) deed_();
    return {};
  }

 private:
  std::string name_;
  std::function<void()> deed_;
};

Status die() {
  ::_exit(99);
}

// A host's workspace and a sandbox's result on the disk, and a journal.
class Scene {
 public:
  Scene(const Tree& theirs, const Tree& ours, const std::string& journal_parent = "")
      : directory_(scratch_directory("merge-")),
        theirs_(theirs),
        journal_(journal_parent.empty() ? directory_.path() + "/journal" : journal_parent + "/journal") {
    ::mkdir((directory_.path() + "/sandbox").c_str(), 0700);
    ::mkdir(host().c_str(), 0700);
    write_tree(directory_.path() + "/sandbox", theirs);
    write_tree(host(), ours);
    source_ = std::move(*system::open_directory(directory_.path() + "/sandbox"));
    target_ = std::move(*system::open_directory(host()));
  }

  std::string host() const { return directory_.path() + "/host"; }
  std::string sandbox() const { return directory_.path() + "/sandbox"; }
  const std::string& journal() const { return journal_; }
  Tree now() const { return read_tree(host()); }
  bool has_journal() const {
    const auto opened = system::open_directory(journal_);
    return opened && !system::names_in(opened->get())->empty();
  }

  MergePlan plan(const Tree& base, Prefer prefer = Prefer::kBoth) const {
    return plan_merge(entries_of(base), {.entries = entries_of(theirs_)}, {.entries = entries_of(now())},
                      {.prefer = prefer, .run_id = "run"})
        .value();
  }
  Result<MergeOutcome> apply(const MergePlan& plan, FaultPoint* faults = nullptr) {
    return apply_merge({source_.get(), target_.get(), journal_, faults}, plan);
  }
  Result<RecoveryOutcome> recover(FaultPoint* faults = nullptr) {
    return recover_merge(target_.get(), journal_, faults);
  }

  void replace(const std::string& path, const std::string& text) const {
    ASSERT_TRUE(system::replace_file(host() + "/" + path, text, 0644));
  }

  // Runs `work` in a child; whether it came to its end.
  static bool survives(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  system::TemporaryDirectory directory_;
  Tree theirs_;
  std::string journal_;
  UniqueFd source_;
  UniqueFd target_;
};

// Every verb at least once, and every change of kind.
struct Everything {
  Tree base = {{"dir", folder()},        {"dir/a", file("a")},        {"dir/sub", folder(0700)},
               {"dir/sub/b", file("b")}, {"both.txt", file("0")},     {"closed", folder(0555)},
               {"closed/x", file("x")},  {"file", file("f")},         {"file-to-link", file("l")},
               {"gone", file("g")},      {"host-deleted", file("h")}, {"link", symlink_to("file")},
               {"mode", file("m")},      {"text", file("1")},         {"to-dir", file("t")},
               {"to-file", folder()},    {"to-file/y", file("y")},    {"crowded", folder()},
               {"crowded/z", file("z")}, {"host-file", folder()},     {"host-file/in", file("in")}};
  Tree theirs = {{"both.txt", file("theirs")},  {"closed", folder(0555)},
                 {"closed/x", file("x2")},      {"crowded", file("now a file")},
                 {"file", file("f")},           {"file-to-link", symlink_to("text")},
                 {"host-deleted", file("h2")},  {"host-file", folder()},
                 {"host-file/in", file("in2")}, {"link", symlink_to("text")},
                 {"mode", file("m", 0755)},     {"new", folder(0500)},
                 {"new/deep", folder()},        {"new/deep/n", file("n", 0600)},
                 {"text", file("2", 0755)},     {"to-dir", folder()},
                 {"to-dir/in", file("in")},     {"to-file", file("was a directory")}};
  Tree ours() const {
    Tree tree = base;
    tree["both.txt"] = file("ours");
    tree["crowded/mine"] = file("mine");
    tree.erase("host-deleted");
    tree.erase("host-file/in");
    tree["host-file"] = file("the host's file");
    tree["only-here"] = file("o");
    return tree;
  }
};

TEST(MergeApplyTest, ComesToWhatThePlanSays) {
  const Everything all;
  Scene scene(all.theirs, all.ours());
  const MergePlan plan = scene.plan(all.base);
  const auto outcome = scene.apply(plan);
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_THAT(outcome->deviations, IsEmpty());
  EXPECT_EQ(to_text(scene.now()), to_text(carried_out(plan, all.theirs, all.ours())));
  EXPECT_FALSE(scene.has_journal());
  for (const MergeVerb verb : {MergeVerb::kDelete, MergeVerb::kRemoveDirectory, MergeVerb::kMoveAside, MergeVerb::kAdd,
                               MergeVerb::kMakeDirectory, MergeVerb::kUpdate, MergeVerb::kSetMode}) {
    EXPECT_THAT(plan.actions, Contains(Field(&MergeAction::verb, verb))) << "the scene lacks " << to_string(verb);
  }
}

TEST(MergeApplyTest, HoldsForManyTrees) {
  for (std::uint32_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    TreeDraw draw(seed);
    const Tree base = draw.tree();
    const Tree theirs = draw.changed(base);
    const Tree ours = draw.changed(base);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene(theirs, ours);
    const MergePlan plan = scene.plan(base);
    ASSERT_TRUE(scene.apply(plan));
    EXPECT_EQ(to_text(scene.now()), to_text(carried_out(plan, theirs, ours)));
  }
}

TEST(MergeApplyTest, KilledAtEveryStepNothingIsLostAndTheNextCommandRecovers) {
  const Everything all;
  const std::string before = to_text(Scene(all.theirs, all.ours()).now());
  AtStep counting(0, die);
  std::string after;
  {
    Scene scene(all.theirs, all.ours());
    ASSERT_TRUE(scene.apply(scene.plan(all.base), &counting));
    after = to_text(scene.now());
  }
  ASSERT_GT(counting.count(), 40);
  int finished = 0;
  for (int step = 1; step <= counting.count(); ++step) {
    SCOPED_TRACE("killed before step " + std::to_string(step) + ", " +
                 counting.names()[static_cast<std::size_t>(step) - 1]);
    Scene scene(all.theirs, all.ours());
    const MergePlan plan = scene.plan(all.base);
    AtStep killing(step, die);
    ASSERT_FALSE(Scene::survives([&] { (void)scene.apply(plan, &killing); }));
    const auto recovered = scene.recover();
    ASSERT_TRUE(recovered) << recovered.error().to_string();
    EXPECT_THAT(recovered->copies, IsEmpty());
    finished += recovered->what == Recovery::kFinished;
    EXPECT_EQ(to_text(scene.now()), recovered->what == Recovery::kFinished ? after : before);
    EXPECT_FALSE(scene.has_journal());
    if (recovered->what == Recovery::kFinished) continue;
    ASSERT_TRUE(scene.apply(scene.plan(all.base)));
    EXPECT_EQ(to_text(scene.now()), after) << "the repeated merge";
  }
  EXPECT_GT(finished, 0);
}

TEST(MergeApplyTest, RecoveryKilledAtEveryStepCanBeRepeated) {
  const Everything all;
  const std::string before = to_text(Scene(all.theirs, all.ours()).now());
  AtStep counting(0, die);
  {
    Scene scene(all.theirs, all.ours());
    ASSERT_TRUE(scene.apply(scene.plan(all.base), &counting));
  }
  // Just before the commit everything has been done and all of it must be undone.
  const auto commit = std::ranges::find(counting.names(), "commit.mark");
  const int last = static_cast<int>(commit - counting.names().begin()) + 1;
  for (int step = 1; step < 200; ++step) {
    SCOPED_TRACE("recovery killed before its step " + std::to_string(step));
    Scene scene(all.theirs, all.ours());
    const MergePlan plan = scene.plan(all.base);
    AtStep killing(last, die);
    ASSERT_FALSE(Scene::survives([&] { (void)scene.apply(plan, &killing); }));
    AtStep killing_recovery(step, die);
    const bool finished = Scene::survives([&] { (void)scene.recover(&killing_recovery); });
    ASSERT_TRUE(scene.recover());
    EXPECT_EQ(to_text(scene.now()), before);
    if (finished) return;
  }
  FAIL() << "recovery has no end";
}

TEST(MergeApplyTest, AFailureAtAnyStepPutsEverythingBack) {
  const Everything all;
  const std::string before = to_text(Scene(all.theirs, all.ours()).now());
  for (int step = 1; step < 500; ++step) {
    Scene scene(all.theirs, all.ours());
    AtStep failing(step, [] { return Status(Error(ErrorCode::kIo, "injected")); });
    const auto outcome = scene.apply(scene.plan(all.base), &failing);
    if (outcome) {
      EXPECT_THAT(failing.names(), Contains("commit.mark"));
      return;
    }
    EXPECT_THAT(outcome.error().message(), HasSubstr("injected"));
    EXPECT_EQ(to_text(scene.now()), before) << failing.names().back();
    EXPECT_FALSE(scene.has_journal());
  }
  FAIL() << "no step was the last";
}

TEST(MergeApplyTest, AJournalOnAnotherFileSystemWorksToo) {
  if (scratch_parent() != "/dev/shm") GTEST_SKIP() << "no second file system";
  const auto elsewhere = system::TemporaryDirectory::create(::testing::TempDir(), "merge-");
  ASSERT_TRUE(elsewhere);
  const Everything all;
  const std::string before = to_text(Scene(all.theirs, all.ours()).now());
  for (const bool killed : {false, true}) {
    Scene scene(all.theirs, all.ours(), elsewhere->path());
    const MergePlan plan = scene.plan(all.base);
    if (!killed) {
      ASSERT_TRUE(scene.apply(plan));
      EXPECT_EQ(to_text(scene.now()), to_text(carried_out(plan, all.theirs, all.ours())));
      continue;
    }
    BeforeStep killing("commit.mark", [] { ::_exit(99); });
    ASSERT_FALSE(Scene::survives([&] { (void)scene.apply(plan, &killing); }));
    ASSERT_TRUE(scene.recover());
    EXPECT_EQ(to_text(scene.now()), before);
  }
}

TEST(MergeApplyTest, AnInterruptedMergeMustBeRecoveredFirst) {
  const Tree base = {{"a", file("1")}};
  Scene scene({{"a", file("2")}}, base);
  const MergePlan plan = scene.plan(base);
  BeforeStep killing("update.check", [] { ::_exit(99); });
  ASSERT_FALSE(Scene::survives([&] { (void)scene.apply(plan, &killing); }));
  const auto refused = scene.apply(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kFailedPrecondition);
}

// What the host does after it was looked at is never lost, and reported.

TEST(MergeRaceTest, AFileChangedBeforeItsReplacementIsKeptBeside) {
  const Tree base = {{"a.txt", file("1")}};
  Scene scene({{"a.txt", file("2")}}, base);
  BeforeStep writing("update", [&] { scene.replace("a.txt", "late"); });
  const auto outcome = scene.apply(scene.plan(base), &writing);
  ASSERT_TRUE(outcome);
  ASSERT_THAT(outcome->deviations, SizeIs(1));
  EXPECT_EQ(outcome->deviations[0].reason, MergeReason::kHostChangedMeanwhile);
  EXPECT_EQ(to_text(scene.now()), to_text({{"a.conflict-host-run-1.txt", file("late")}, {"a.txt", file("2")}}));
}

TEST(MergeRaceTest, TheHostStaysWhenItIsPreferred) {
  const Tree base = {{"a", file("1")}};
  Scene scene({{"a", file("2")}}, base);
  BeforeStep writing("update", [&] { scene.replace("a", "late"); });
  ASSERT_TRUE(scene.apply(scene.plan(base, Prefer::kHost), &writing));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("late")}}));
}

TEST(MergeRaceTest, TheHostThatKeepsWritingLosesNoVersion) {
  const Tree base = {{"a", file("1")}};
  Scene scene({{"a", file("2")}}, base);
  class Writing : public FaultPoint {
   public:
    explicit Writing(Scene& scene) : scene_(scene) {}
    Status before(std::string_view name) override {
      if (name == "update") scene_.replace("a", "late");
      if (name == "update.return") scene_.replace("a", "later");
      return {};
    }
    Scene& scene_;
  } writing(scene);
  ASSERT_TRUE(scene.apply(scene.plan(base, Prefer::kHost), &writing));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("late")}, {"a.conflict-host-run-1", file("later")}}));
}

TEST(MergeRaceTest, AFileChangedBeforeItsDeletionStays) {
  const Tree base = {{"a", file("1")}};
  Scene scene({}, base);
  BeforeStep writing("delete", [&] { scene.replace("a", "late"); });
  const auto outcome = scene.apply(scene.plan(base), &writing);
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->deviations, Contains(Field(&MergeAction::verb, MergeVerb::kKeep)));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("late")}}));
}

TEST(MergeRaceTest, AFileMadeWhereOneWasJustTakenAwayIsNotOverwritten) {
  const Tree base = {{"a", file("1")}};
  Scene scene({}, base);
  class Both : public FaultPoint {
   public:
    explicit Both(Scene& scene) : scene_(scene) {}
    Status before(std::string_view name) override {
      if (name == "delete") scene_.replace("a", "late");
      if (name == "delete.return") scene_.replace("a", "later");
      return {};
    }
    Scene& scene_;
  } both(scene);
  ASSERT_TRUE(scene.apply(scene.plan(base), &both));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("later")}, {"a.conflict-host-run-1", file("late")}}));
}

TEST(MergeRaceTest, AFileMadeInTheWayIsMovedAside) {
  Scene scene({{"d", folder()}, {"d/a", file("2")}}, {});
  BeforeStep writing("mkdir", [&] { scene.replace("d", "a file"); });
  ASSERT_TRUE(scene.apply(scene.plan({}), &writing));
  EXPECT_EQ(to_text(scene.now()),
            to_text({{"d", folder()}, {"d.conflict-host-run-1", file("a file")}, {"d/a", file("2")}}));
}

TEST(MergeRaceTest, ADirectoryReplacedByALinkIsNotWrittenThrough) {
  const Tree base = {{"d", folder()}, {"d/a", file("1")}};
  Tree theirs = base;
  theirs["d/a"] = file("2");
  Scene scene(theirs, base);
  const auto outside = system::TemporaryDirectory::create(::testing::TempDir(), "outside-");
  ASSERT_TRUE(system::replace_file(outside->path() + "/a", "1", 0644));
  BeforeStep swapping("update", [&] {
    ::rename((scene.host() + "/d").c_str(), (scene.host() + "/e").c_str());
    ASSERT_EQ(::symlink(outside->path().c_str(), (scene.host() + "/d").c_str()), 0);
  });
  const auto outcome = scene.apply(scene.plan(base), &swapping);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().retry(), RetryClass::kAtOnce);
  EXPECT_EQ(system::read_file(outside->path() + "/a", 10).value_or(""), "1");
  EXPECT_EQ(scene.now().at("e/a"), file("1"));
}

TEST(MergeRaceTest, UnknownContentsKeepTheirDirectory) {
  const Tree base = {{"d", folder()}, {"d/a", file("1")}};
  Scene scene({{"d", file("now a file")}}, base);
  const MergePlan plan = scene.plan(base);
  scene.replace("d/unseen", "u");
  ASSERT_TRUE(scene.apply(plan));
  EXPECT_EQ(to_text(scene.now()), to_text({{"d", file("now a file")},
                                           {"d.conflict-host-run-1", folder()},
                                           {"d.conflict-host-run-1/unseen", file("u")}}));
}

TEST(MergeRaceTest, WhatTheHostWroteAfterTheCrashSurvivesTheRollBack) {
  const Tree base = {{"a", file("1")}, {"b", file("1")}, {"c", file("1")}};
  Scene scene({{"a", file("2")}, {"n", file("new")}}, base);
  const MergePlan plan = scene.plan(base);
  BeforeStep killing("commit.mark", [] { ::_exit(99); });
  ASSERT_FALSE(Scene::survives([&] { (void)scene.apply(plan, &killing); }));
  scene.replace("a", "edited");
  scene.replace("b", "made again");
  scene.replace("n", "edited too");
  const auto recovered = scene.recover();
  ASSERT_TRUE(recovered) << recovered.error().to_string();
  EXPECT_THAT(recovered->copies, SizeIs(2));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("edited")},
                                           {"a.conflict-host-run-1", file("1")},
                                           {"b", file("made again")},
                                           {"b.conflict-host-run-1", file("1")},
                                           {"c", file("1")},
                                           {"n", file("edited too")}}));
}

TEST(MergeRaceTest, ASandboxThatStillWritesIsNoticed) {
  Scene scene({{"a", file("2")}}, {{"a", file("1")}});
  const MergePlan plan = scene.plan({{"a", file("1")}});
  ASSERT_TRUE(system::replace_file(scene.sandbox() + "/a", "3", 0644));
  const auto outcome = scene.apply(plan);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message(), HasSubstr("changed in the sandbox"));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("1")}}));
}

TEST(MergeRaceTest, ASandboxFileSwappedForAFifoDoesNotHoldUs) {
  Scene scene({{"a", file("2")}}, {{"a", file("1")}});
  const MergePlan plan = scene.plan({{"a", file("1")}});
  ::unlink((scene.sandbox() + "/a").c_str());
  ASSERT_EQ(::mkfifo((scene.sandbox() + "/a").c_str(), 0600), 0);
  EXPECT_FALSE(scene.apply(plan));
  EXPECT_EQ(to_text(scene.now()), to_text({{"a", file("1")}}));
}

TEST(MergeApplyTest, ARestrictiveUmaskChangesNoMode) {
  const Tree theirs = {{"d", folder(0755)}, {"d/a", file("a", 0644)}, {"d/x", file("x", 0755)}};
  Scene scene(theirs, {});
  const mode_t before = ::umask(0077);
  EXPECT_TRUE(scene.apply(scene.plan({})));
  ::umask(before);
  EXPECT_EQ(to_text(scene.now()), to_text(theirs));
}

TEST(MergeApplyTest, SpecialBitsOfTheHostsOwnStayWhereTheyAre) {
  const Tree base = {{"d", folder(0555)}, {"d/a", file("1")}, {"e", folder(0755)}};
  Tree theirs = base;
  theirs["d/a"] = file("2");
  theirs["e"] = folder(0750);
  theirs["e/new"] = folder();
  Scene scene(theirs, base);
  ASSERT_EQ(::chmod((scene.host() + "/d").c_str(), 02555), 0);
  ASSERT_EQ(::chmod((scene.host() + "/e").c_str(), 02755), 0);
  Inventory ours{.entries = entries_of(base)};  // as an inventory sees it, without the special bits
  const auto plan = plan_merge(entries_of(base), {.entries = entries_of(theirs)}, ours, {.run_id = "run"});
  ASSERT_TRUE(scene.apply(*plan));
  EXPECT_EQ(to_text(scene.now()),
            to_text({{"d", folder(02555)}, {"d/a", file("2")}, {"e", folder(02750)}, {"e/new", folder(0755)}}));
}

TEST(MergeApplyTest, RootLeavesTheWorkspaceToItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const Tree base = {{"a", file("1")}};
  Scene scene({{"a", file("2")}, {"d", folder()}, {"d/l", symlink_to("x")}}, base);
  ASSERT_EQ(::chown(scene.host().c_str(), 12345, 12346), 0);
  ASSERT_EQ(::chown((scene.host() + "/a").c_str(), 23456, 23457), 0);
  ASSERT_TRUE(scene.apply(scene.plan(base)));
  const auto owner = [&](const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::lstat((scene.host() + path).c_str(), &status), 0);
    return status.st_uid;
  };
  EXPECT_EQ(owner("/a"), 23456U);
  EXPECT_EQ(owner("/d"), 12345U);
  EXPECT_EQ(owner("/d/l"), 12345U);
}

TEST(MergeApplyTest, HolesStayHoles) {
  Scene scene({}, {});
  const std::string big = std::string(1 << 20, '\0') + "end";
  Tree theirs = {{"sparse", file(big)}};
  write_tree(scene.sandbox(), theirs);
  const MergePlan plan = plan_merge({}, {.entries = entries_of(theirs)}, {}, {.run_id = "run"}).value();
  ASSERT_TRUE(scene.apply(plan));
  EXPECT_EQ(scene.now().at("sparse"), file(big));
  struct stat status{};
  ASSERT_EQ(::stat((scene.host() + "/sparse").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 512 << 10);
}

TEST(MergeApplyTest, AFullDiskLeavesTheHostAsItWas) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small file system";
  const auto mount = system::TemporaryDirectory::create(::testing::TempDir(), "full-");
  if (::mount("tmpfs", mount->path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "mounting is not allowed";
  Tree base = {{"a", file("1")}, {"b", file("2")}};
  write_tree(mount->path(), base);
  const Tree theirs = {{"a", file(std::string(1 << 19, 'x'))}, {"c", file(std::string(1 << 20, 'y'))}};
  Scene scene(theirs, {});
  const auto plan =
      plan_merge(entries_of(base), {.entries = entries_of(theirs)}, {.entries = entries_of(base)}, {.run_id = "run"});
  const auto source = system::open_directory(scene.sandbox());
  auto target = system::open_directory(mount->path());
  const auto outcome = apply_merge({source->get(), target->get(), scene.journal(), nullptr}, *plan);
  EXPECT_FALSE(outcome);
  if (!outcome) EXPECT_EQ(outcome.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(to_text(read_tree(mount->path())), to_text(base));
  EXPECT_FALSE(scene.has_journal());
  target->reset();
  ::umount(mount->path().c_str());
}

}  // namespace
}  // namespace cofferdam::workspace
