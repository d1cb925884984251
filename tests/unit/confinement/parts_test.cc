// The parts of planning, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "confinement/bubblewrap.h"
#include "confinement/command_exposure.h"
#include "confinement/git_config.h"
#include "confinement/git_layout.h"
#include "confinement/limits_plan.h"
#include "confinement/mount_set.h"
#include "confinement/protection.h"
#include "confinement/trusted_program.h"
#include "fake_host.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = Mount::Kind;
using Means = PlannedLimit::Means;

std::vector<std::string> targets(const std::vector<Mount>& mounts) {
  std::vector<std::string> out;
  for (const Mount& mount : mounts) out.push_back(mount.target);
  return out;
}

TEST(MountSet, OrdersShallowToDeepAndRemountsLast) {
  MountSet set;
  Mount sealed;
  sealed.kind = Kind::kRemountReadOnly;
  sealed.target = "/a";
  ASSERT_TRUE(set.add(sealed));
  for (const char* path : {"/a/b/c", "/a", "/a/b", "/"}) {
    ASSERT_TRUE(set.add(bind_mount(path, Access::kReadOnly, "")));
  }
  EXPECT_THAT(targets(std::move(set).in_order()), ElementsAre("/", "/a", "/a/b", "/a/b/c", "/a"));
}

TEST(MountSet, CoveringTakesTheDeepest) {
  MountSet set;
  ASSERT_TRUE(set.add(bind_mount("/a", Access::kReadWrite, "")));
  ASSERT_TRUE(set.add(tmpfs_mount("/a/b", 0, "")));
  EXPECT_EQ(set.covering("/a/b/c")->target, "/a/b");
  EXPECT_EQ(set.covering("/a/bb")->target, "/a");
  EXPECT_TRUE(set.shows("/a/x"));
  EXPECT_FALSE(set.shows("/a/b/x"));
  EXPECT_EQ(set.covering("/c"), nullptr);
}

TEST(GitConfigValues, ReadsWhatGitReads) {
  constexpr std::string_view kConfig =
      "[core]\n\thooksPath = .hooks # ours\n[CORE]\nhookspath=\"other dir\"\n"
      "[include]\npath = ../a\n[includeIf \"gitdir:x\"] path = b\n[core \"x\"]\n\tworktree = ../w\n; [core] worktree = "
      "no\n";
  EXPECT_THAT(git_config_values(kConfig, "core", "hooksPath"), ElementsAre(".hooks", "other dir"));
  EXPECT_THAT(git_config_values(kConfig, "include", "path"), ElementsAre("../a"));
  EXPECT_THAT(git_config_values(kConfig, "includeif", "path"), ElementsAre("b"));
  EXPECT_THAT(git_config_values(kConfig, "core", "worktree"), ElementsAre("../w"));
  EXPECT_THAT(git_config_values("", "core", "worktree"), IsEmpty());
  EXPECT_THAT(git_config_values("[core", "core", "worktree"), IsEmpty());
  EXPECT_THAT(git_config_values("[include] path = ../z\\\n4.cfg\n", "include", "path"), ElementsAre("../z4.cfg"));
  EXPECT_THAT(git_config_values("[core]\nhooksPath = \"hk\"s # c\n", "core", "hookspath"), ElementsAre("hks"));
  EXPECT_THAT(git_config_values("[core]hooksPath=\"a;b\" c\n", "core", "hookspath"), ElementsAre("a;b c"));
  EXPECT_THAT(git_config_values("[includeIf \"x]y\"]\npath=q\n", "includeif", "path"), ElementsAre("q"));
}

std::vector<std::string> protected_by(const FakeHost& host) {
  std::vector<std::string> out;
  const auto layout = read_git_layout(host, "/w", GitProtection::kOn);
  if (!layout) return {layout.error().to_string()};
  for (const auto& path : layout->protected_paths) out.push_back(path.path);
  return out;
}

TEST(GitLayout, ProtectsHooksConfigurationAndWhatLeadsToOthers) {
  FakeHost host;
  host.directory("/w/.git/hooks").directory("/w/.git/worktrees/t").file("/w/.git/worktrees/t/commondir", "../..\n");
  host.file("/w/.git/config",
            "[core]\n\thooksPath = .husky/_\n[include]\n\tpath = ../shared\n\tpath = "
            "/etc/x\n[extensions]\n\tworktreeConfig = true\n");
  EXPECT_THAT(protected_by(host),
              testing::UnorderedElementsAre("/w/.git/hooks", "/w/.git/config", "/w/.git/config.worktree",
                                            "/w/.git/commondir", "/w/shared", "/w/.husky",
                                            "/w/.git/worktrees/t/commondir", "/w/.git/worktrees/t/config.worktree"));
}

TEST(GitLayout, ProtectsSubmodules) {
  FakeHost host;
  host.file("/w/.git/modules/a/b/HEAD").file("/w/.git/modules/a/b/config").file("/w/.git/config");
  EXPECT_THAT(protected_by(host), Contains("/w/.git/modules/a/b/hooks"));
}

TEST(GitLayout, PointersMustPointBack) {
  struct Case {
    const char* name;
    const char* target;
    const char* back;
    const char* common;
    bool good;
  };
  const Case cases[] = {{"right", "/m/.git/worktrees/t", "/w/.git", "../..", true},
                        {"another worktree's", "/m/.git/worktrees/t", "/x/.git", "../..", false},
                        {"other common directory", "/m/.git/worktrees/t", "/w/.git", "/evil", false},
                        {"no worktree's place", "/m/.git/t/u", "/w/.git", "../..", false}};
  for (const Case& row : cases) {
    FakeHost host;
    const std::string target = row.target;
    host.file("/w/.git", "gitdir: " + target + "\n").file("/m/.git/HEAD").directory("/m/.git/objects");
    host.file(target + "/gitdir", std::string(row.back) + "\n")
        .file(target + "/commondir", std::string(row.common) + "\n");
    EXPECT_EQ(read_git_layout(host, "/w", GitProtection::kOn).has_value(), row.good) << row.name;
  }
}

TEST(GitLayout, SubmodulePointersMustPointBack) {
  for (const bool good : {true, false}) {
    FakeHost host;
    host.file("/w/.git", "gitdir: ../s/.git/modules/w\n");
    host.file("/s/.git/modules/w/config", std::string("[core]\n\tworktree = ") + (good ? "../../../../w\n" : "/x\n"));
    EXPECT_EQ(read_git_layout(host, "/w", GitProtection::kOn).has_value(), good);
  }
}

TEST(GitLayout, LinksAndStrangersAreRefused) {
  FakeHost link;
  link.link("/w/.git", "/m/.git").directory("/m/.git");
  EXPECT_FALSE(read_git_layout(link, "/w", GitProtection::kOn));
  FakeHost stranger;
  stranger.directory("/w").file("/w/.git", "gitdir: /m/.git/worktrees/t\n").directory("/m/.git/worktrees/t", 77);
  EXPECT_FALSE(read_git_layout(stranger, "/w", GitProtection::kOn));
}

TEST(Protection, PinsParentsAndCoversWhatIsAbsent) {
  FakeHost host;
  host.file("/w/a/b/f");
  const auto plan = plan_protection(
      host, "/w", {{.path = "/w/a/b/f"}, {.path = "/w/none/x"}, {.path = "/w/g", .placeholder_content = "{}"}});
  ASSERT_TRUE(plan);
  const auto kind_at = [&](const std::string& target) {
    return std::ranges::find(plan->mounts, target, &Mount::target)->kind;
  };
  EXPECT_EQ(kind_at("/w/a/b/f"), Kind::kReadOnly);
  EXPECT_EQ(kind_at("/w/a/b"), Kind::kReadWrite);
  EXPECT_EQ(kind_at("/w/a"), Kind::kReadWrite);
  EXPECT_EQ(kind_at("/w/none"), Kind::kReadOnly);
  EXPECT_EQ(kind_at("/w/g"), Kind::kReadOnly);
  ASSERT_EQ(plan->placeholders.size(), 2U);
  EXPECT_TRUE(plan->placeholders[0].is_directory);
  EXPECT_EQ(plan->placeholders[1].content, "{}");
  EXPECT_TRUE(std::ranges::all_of(plan->mounts, &Mount::guards));
}

TEST(Protection, LinksCannotBeProtected) {
  FakeHost host;
  host.link("/w/a", "/elsewhere").file("/elsewhere/f");
  const auto plan = plan_protection(host, "/w", {{.path = "/w/a/f", .switch_that_allows = "--switch"}});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().to_string(), HasSubstr("symbolic link"));
}

TEST(Protection, SpecialFilesCannotBeProtected) {
  for (const auto type : {PathFact::Type::kPipe, PathFact::Type::kSocket, PathFact::Type::kDevice}) {
    for (const char* place : {"/w/a", "/w/a/f"}) {
      FakeHost host;
      host.special(place, type);
      const auto plan = plan_protection(host, "/w", {{.path = "/w/a/f", .switch_that_allows = "--switch"}});
      ASSERT_FALSE(plan);
      EXPECT_THAT(plan.error().to_string(), HasSubstr(std::string(place) + " is a"));
      EXPECT_THAT(plan.error().hint(), HasSubstr("--switch"));
    }
  }
}

TEST(Protection, WhatStandsInTheWayIsProtectedInstead) {
  struct Case {
    const char* name;
    void (*make)(FakeHost&);
  };
  const std::vector<Case> cases = {
      {"a file", [](FakeHost& host) { host.file("/w/a"); }},
      {"a directory that cannot be entered", [](FakeHost& host) { host.file("/w/a/f").mode("/w/a", 0600); }},
      {"a directory that cannot be written", [](FakeHost& host) { host.directory("/w/a").mode("/w/a", 0500); }},
  };
  for (const Case& each : cases) {
    FakeHost host;
    each.make(host);
    const auto plan = plan_protection(host, "/w", {{.path = "/w/a/f"}, {.path = "/w/a/g"}});
    ASSERT_TRUE(plan) << each.name;
    ASSERT_EQ(plan->mounts.size(), 1U) << each.name;
    EXPECT_EQ(plan->mounts[0].target, "/w/a") << each.name;
    EXPECT_EQ(plan->mounts[0].kind, Kind::kReadOnly) << each.name;
    EXPECT_TRUE(plan->placeholders.empty()) << each.name;
  }
}

std::vector<std::string> exposed(const FakeHost& host, const std::string& program,
                                 const std::string& path = "/usr/bin") {
  MountSet mounts;
  EXPECT_TRUE(mounts.add(bind_mount("/usr", Access::kReadOnly, "")));
  EXPECT_TRUE(expose_command(mounts, host,
                             {.program = program,
                              .working_directory = "/home/ada/work",
                              .search_path = path,
                              .closed = {"/home/ada", "/home/ada/work"}}));
  return targets(mounts.all());
}

TEST(CommandExposure, ChainedLinksAreShown) {
  FakeHost host;
  host.file("/opt/real/bin/tool", "ELF").link("/opt/links/tool", "../more/tool").link("/opt/more", "/opt/real/bin");
  EXPECT_THAT(exposed(host, "/opt/links/tool"), Contains("/opt/more"));
  EXPECT_THAT(exposed(host, "/opt/links/tool"), Contains("/opt/real/bin"));
}

TEST(CommandExposure, HomeIsNeverShown) {
  FakeHost host;
  host.file("/home/ada/package.json", "{}").file("/home/ada/tools/bin/tool", "ELF").file("/home/ada/tool", "ELF");
  EXPECT_THAT(exposed(host, "tool", "/home/ada/tools/bin"), Not(Contains("/home/ada")));
  EXPECT_THAT(exposed(host, "/home/ada/tool"), Not(Contains("/home/ada")));
  EXPECT_THAT(exposed(host, "/home/ada/tool"), Contains("/home/ada/tool"));
}

TEST(CommandExposure, InterpretersAreShown) {
  FakeHost host;
  host.file("/opt/app/run", "#!/usr/bin/env -S X=1 python9 -u\n").file("/opt/python/bin/python9", "ELF");
  EXPECT_THAT(exposed(host, "/opt/app/run", "/usr/bin:/opt/python/bin"), Contains("/opt/python/bin"));
  host.file("/opt/app/other", "#! /opt/lua/bin/lua\n").file("/opt/lua/bin/lua", "ELF");
  EXPECT_THAT(exposed(host, "/opt/app/other"), Contains("/opt/lua/bin"));
  host.file("/opt/app/loop", "#!/opt/app/loop\n");
  EXPECT_THAT(exposed(host, "/opt/app/loop"), Contains("/opt/app"));
}

TEST(TrustedProgram, OnlyRootsOwn) {
  FakeHost host;
  EXPECT_EQ(find_bubblewrap(host, "", {}).value_or(""), "/usr/bin/bwrap");
  EXPECT_EQ(find_bubblewrap(host, " bwrap ", {}).value_or(""), "/usr/bin/bwrap");
  host.file("/home/ada/work/bwrap")
      .file("/srv/bwrap", "", 0)
      .mode("/srv/bwrap", 0777)
      .link("/usr/bin/mine", "/home/ada/work/bwrap", 0);
  for (const char* name :
       {"./bwrap", "bin/bwrap", "/home/ada/work/bwrap", "/srv/bwrap", "/none", "none", "/usr/bin/mine"}) {
    EXPECT_FALSE(find_bubblewrap(host, name, {})) << name;
  }
  EXPECT_FALSE(find_bubblewrap(host, "/usr/bin/bwrap", {"/usr"}));
}

TEST(LimitsPlan, WhatCannotBeEnforcedIsAnObstacle) {
  const CgroupFacts none{
      .mode = CgroupMode::kNone, .directories = {}, .detail = "cgroup version 1, which only root may use"};
  const CgroupFacts all{
      .mode = CgroupMode::kV2, .directories = {{"memory", "/c"}, {"pids", "/c"}, {"cpu", "/c"}}, .detail = ""};
  domain::Limits memory;
  memory.memory_bytes = 64 << 20;
  const auto refused = plan_limits(memory, none, 1000);
  ASSERT_EQ(refused.obstacles.size(), 1U);
  EXPECT_THAT(refused.obstacles[0].to_string(), HasSubstr("only root may use"));
  EXPECT_TRUE(plan_limits(memory, all, 1000).obstacles.empty());
  EXPECT_EQ(plan_limits(memory, all, 1000).limits.front().means, Means::kCgroupV2);
  domain::Limits pids;
  pids.pids = 10;
  EXPECT_EQ(plan_limits(pids, none, 1000).limits.front().means, Means::kRlimit);
  EXPECT_EQ(plan_limits(pids, none, 0).obstacles.size(), 1U);
  EXPECT_EQ(plan_limits({}, none, 0).limits.front().means, Means::kNone);
}

TEST(BubblewrapArguments, FollowThePlan) {
  ConfinementPlan plan;
  plan.mounts = {tmpfs_mount("/", 4096, ""), bind_mount("/w", Access::kReadWrite, ""),
                 data_mount("/etc/passwd", "x", "")};
  const BubblewrapArguments out = bubblewrap_arguments(plan, {}, 8);
  for (const char* word :
       {"--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--new-session", "--cap-drop"}) {
    EXPECT_THAT(out.arguments, Contains(word));
  }
  EXPECT_THAT(out.contents, ElementsAre("x"));
  plan.network = domain::NetworkScope::kOpen;
  EXPECT_THAT(bubblewrap_arguments(plan, {}, 8).arguments, Not(Contains("--unshare-net")));
}

TEST(BubblewrapFailures, NameCauseAndRemedy) {
  for (const char* words :
       {"bwrap: setting up uid map: Permission denied", "bwrap: No permissions to create a new namespace",
        "bwrap: Creating new namespace failed: No space left on device"}) {
    EXPECT_THAT(explain_bubblewrap_failure(words).hint(), HasSubstr("sysctl")) << words;
  }
}

}  // namespace
}  // namespace cofferdam::confinement
