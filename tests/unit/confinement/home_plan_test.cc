// What a profile brings of the home directory, through the planner as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "confinement/planner.h"
#include "fake_host.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::FilesystemScope;
using domain::PathGrant;
using domain::Policy;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Mount::Kind;
using Absent = PathGrant::Placeholder;

Policy policy_with(std::vector<PathGrant> home_paths) {
  Policy policy;
  policy.workspace = "/home/ada/work";
  policy.home_paths = std::move(home_paths);
  return policy;
}

PathGrant writable(const std::string& path) {
  return {.path = path, .access = Access::kReadWrite, .origin = "profile x", .optional = true};
}

PathGrant kept(const std::string& path, Absent placeholder = Absent::kFile) {
  return {.path = path, .origin = "profile x", .optional = true, .placeholder = placeholder};
}

ConfinementPlan planned(const Policy& policy, const HostView& host) {
  auto plan = make_plan(policy, {"true"}, host);
  if (!plan) ADD_FAILURE() << plan.error().to_string();
  return plan ? std::move(*plan) : ConfinementPlan();
}

std::string refusal(const Policy& policy, const HostView& host) {
  const auto plan = make_plan(policy, {"true"}, host);
  return plan ? "" : plan.error().to_string();
}

Mount mount_at(const ConfinementPlan& plan, const std::string& target) {
  const auto found = std::ranges::find(plan.mounts, target, &Mount::target);
  if (found == plan.mounts.end()) ADD_FAILURE() << "nothing at " << target;
  return found == plan.mounts.end() ? Mount() : *found;
}

const Placeholder* placeholder_at(const ConfinementPlan& plan, const std::string& path) {
  const auto found = std::ranges::find(plan.placeholders, path, &Placeholder::path);
  return found == plan.placeholders.end() ? nullptr : &*found;
}

TEST(HomePlan, DirectoryIsMadeOnTheFirstUse) {
  const FakeHost host;
  const ConfinementPlan plan = planned(policy_with({writable("/home/ada/.config/agent")}), host);
  EXPECT_EQ(mount_at(plan, "/home/ada/.config/agent").kind, Kind::kReadWrite);
  for (const char* path : {"/home/ada/.config", "/home/ada/.config/agent"}) {
    ASSERT_NE(placeholder_at(plan, path), nullptr) << path;
    EXPECT_TRUE(placeholder_at(plan, path)->is_directory);
    EXPECT_EQ(placeholder_at(plan, path)->mode, 0700U);
  }
}

TEST(HomePlan, SettingsInADirectoryAreProtectedEvenWhileAbsent) {
  FakeHost host;
  host.file("/home/ada/.agent/AGENTS.md", "words");
  const ConfinementPlan plan =
      planned(policy_with({writable("/home/ada/.agent"), kept("/home/ada/.agent/AGENTS.md"),
                           kept("/home/ada/.agent/mcp.json"), kept("/home/ada/.agent/hooks", Absent::kDirectory)}),
              host);
  EXPECT_EQ(mount_at(plan, "/home/ada/.agent").kind, Kind::kReadWrite);
  for (const char* path : {"AGENTS.md", "mcp.json", "hooks"}) {
    const Mount mount = mount_at(plan, std::string("/home/ada/.agent/") + path);
    EXPECT_EQ(mount.kind, Kind::kReadOnly) << path;
    EXPECT_TRUE(mount.guards) << path;
  }
  EXPECT_EQ(placeholder_at(plan, "/home/ada/.agent/AGENTS.md"), nullptr);
  EXPECT_EQ(placeholder_at(plan, "/home/ada/.agent/mcp.json")->content, "{}\n") << "programs on the host read it";
  EXPECT_TRUE(placeholder_at(plan, "/home/ada/.agent/hooks")->is_directory);
}

TEST(HomePlan, WhatNothingMayStandInForIsSetAsideAtTheEnd) {
  FakeHost host;
  host.directory("/home/ada/.agent");
  const Policy policy = policy_with({writable("/home/ada/.agent"), kept("/home/ada/.agent/c.json", Absent::kAbsence)});
  EXPECT_THAT(planned(policy, host).kept_absent, ElementsAre("/home/ada/.agent/c.json"));
  host.file("/home/ada/.agent/c.json", "{}");
  EXPECT_THAT(planned(policy, host).kept_absent, IsEmpty());
  EXPECT_EQ(mount_at(planned(policy, host), "/home/ada/.agent/c.json").kind, Kind::kReadOnly);
}

TEST(HomePlan, ReadOnlyPathOutsideEveryWritableDirectoryIsAPlainGrant) {
  FakeHost host;
  host.file("/home/ada/.rules", "words");
  const ConfinementPlan plan = planned(policy_with({kept("/home/ada/.rules"), kept("/home/ada/.absent")}), host);
  EXPECT_EQ(mount_at(plan, "/home/ada/.rules").kind, Kind::kReadOnly);
  EXPECT_THAT(plan.placeholders, Not(Contains(testing::Field(&Placeholder::path, "/home/ada/.absent"))));
}

TEST(HomePlan, AMisspeltHomeIsRefused) {
  FakeHost host;
  host.file("/srv/file");
  Policy policy = policy_with({writable("/srv/none/.agent")});
  policy.home = "/srv/none";
  EXPECT_THAT(refusal(policy, host), HasSubstr("/srv/none does not exist"));
  policy.home = "/srv/file";
  EXPECT_THAT(refusal(policy, host), HasSubstr("/srv/file is not a directory"));
  policy.home_paths.clear();
  EXPECT_EQ(refusal(policy, host), "") << "nothing is kept there";
}

TEST(HomePlan, LinkedDirectoryIsProtectedUnderBothNames) {
  FakeHost host;
  host.file("/data/agent/mcp.json", "{}").link("/home/ada/.agent", "/data/agent");
  const Policy policy = policy_with({writable("/home/ada/.agent"), kept("/home/ada/.agent/mcp.json")});
  const ConfinementPlan plan = planned(policy, host);
  EXPECT_EQ(mount_at(plan, "/home/ada/.agent").source, "/data/agent");
  EXPECT_EQ(mount_at(plan, "/home/ada/.agent/mcp.json").kind, Kind::kReadOnly);
  host.link("/home/ada/.agent", "/data/gone");
  EXPECT_THAT(refusal(policy, host), HasSubstr("a symbolic link to nothing"));
}

Policy policy_with_file(std::vector<std::string> guarded_members = {}) {
  Policy policy = policy_with({});
  policy.home_files = {{.name = ".agent.json", .guarded_members = std::move(guarded_members)}};
  return policy;
}

TEST(HomePlan, FileIsCopiedWhetherItIsThereOrNot) {
  FakeHost host;
  ConfinementPlan plan = planned(policy_with_file(), host);
  ASSERT_EQ(plan.home_files.size(), 1U);
  EXPECT_FALSE(plan.home_files[0].identity);
  EXPECT_FALSE(plan.home_files[0].covers);
  EXPECT_EQ(placeholder_at(plan, "/home/ada/.agent.json"), nullptr);
  host.file("/home/ada/.agent.json", "{}");
  plan = planned(policy_with_file(), host);
  ASSERT_EQ(plan.home_files.size(), 1U);
  EXPECT_TRUE(plan.home_files[0].identity);
}

TEST(HomePlan, CopyCoversTheHostsFileWhereThatWouldBeSeen) {
  const FakeHost host;
  Policy policy = policy_with_file();
  policy.filesystem = FilesystemScope::kHost;
  const ConfinementPlan plan = planned(policy, host);
  EXPECT_TRUE(plan.home_files.at(0).covers);
  ASSERT_NE(placeholder_at(plan, "/home/ada/.agent.json"), nullptr) << "something to mount over";
  EXPECT_EQ(placeholder_at(plan, "/home/ada/.agent.json")->mode, 0600U);
}

TEST(HomePlan, LinkedFileIsWrittenThroughOnlyToAFileOfTheUser) {
  FakeHost host;
  host.file("/home/ada/dotfiles/agent.json", "{}").link("/home/ada/.agent.json", "/home/ada/dotfiles/agent.json");
  EXPECT_EQ(planned(policy_with_file(), host).home_files.at(0).host_path, "/home/ada/dotfiles/agent.json");
  host.file("/etc/agent.json", "{}", 0).link("/home/ada/.agent.json", "/etc/agent.json");
  const ConfinementPlan plan = planned(policy_with_file(), host);
  EXPECT_THAT(plan.home_files, IsEmpty());
  EXPECT_THAT(plan.notes, Contains(HasSubstr("no file of this user's")));
}

TEST(HomePlan, LinkIntoTheWorkspaceProtectsWhatItNames) {
  FakeHost host;
  host.file("/home/ada/work/agent.json", "{}").link("/home/ada/.agent.json", "/home/ada/work/agent.json");
  EXPECT_EQ(mount_at(planned(policy_with_file({"env"}), host), "/home/ada/work/agent.json").kind, Kind::kReadOnly);
}

TEST(HomePlan, WhatIsNoFileIsLeftOutWithAWord) {
  FakeHost host;
  host.special("/home/ada/.agent.json", PathFact::Type::kPipe);
  const ConfinementPlan plan = planned(policy_with_file(), host);
  EXPECT_THAT(plan.home_files, IsEmpty());
  EXPECT_THAT(plan.notes, Contains(HasSubstr("not a regular file")));
}

TEST(HomePlan, SystemDefaultsAreTheHostsWhereItHasSome) {
  FakeHost host;
  Policy policy = policy_with({});
  policy.system_files = {{.path = "/etc/agent/config", .content = "ours", .origin = "profile x"}};
  EXPECT_EQ(mount_at(planned(policy, host), "/etc/agent/config").content, "ours");
  host.file("/etc/agent/config", "the host's", 0);
  EXPECT_EQ(mount_at(planned(policy, host), "/etc/agent/config").content, "the host's");
}

TEST(Planner, MoreMountsThanBubblewrapTakesAreRefused) {
  const FakeHost host;
  Policy policy = policy_with({});
  for (int index = 0; index < 3000; ++index) policy.protect.push_back("/home/ada/work/p" + std::to_string(index));
  EXPECT_THAT(refusal(policy, host), HasSubstr("at most 1700 are possible"));
  policy.protect.resize(1000);
  EXPECT_EQ(refusal(policy, host), "");
}

}  // namespace
}  // namespace cofferdam::confinement
