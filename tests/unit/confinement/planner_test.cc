#include "confinement/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_host.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::Policy;
using testing::HasSubstr;
using Kind = Mount::Kind;

constexpr const char* kWorkspace = "/home/ada/work";

Policy policy_for(const std::string& workspace = kWorkspace) {
  Policy policy;
  policy.workspace = workspace;
  return policy;
}

ConfinementPlan planned(const Policy& policy, const HostView& host, std::vector<std::string> command = {"true"}) {
  auto plan = make_plan(policy, command, host);
  if (!plan) ADD_FAILURE() << plan.error().to_string();
  return plan ? std::move(*plan) : ConfinementPlan();
}

std::string refusal(const Policy& policy, const HostView& host) {
  const auto plan = make_plan(policy, {"true"}, host);
  return plan ? "" : plan.error().to_string();
}

const Mount* mount_at(const ConfinementPlan& plan, const std::string& target) {
  const auto found = std::ranges::find(plan.mounts, target, &Mount::target);
  return found == plan.mounts.end() ? nullptr : &*found;
}

std::size_t place_of(const ConfinementPlan& plan, const std::string& target) {
  return static_cast<std::size_t>(std::ranges::find(plan.mounts, target, &Mount::target) - plan.mounts.begin());
}

TEST(Planner, ConfinesToTheWorkspace) {
  const FakeHost host;
  const ConfinementPlan plan = planned(policy_for(), host);
  ASSERT_NE(mount_at(plan, kWorkspace), nullptr);
  EXPECT_EQ(mount_at(plan, kWorkspace)->kind, Kind::kReadWrite);
  EXPECT_EQ(mount_at(plan, "/")->kind, Kind::kTmpfs);
  EXPECT_EQ(mount_at(plan, "/bin")->kind, Kind::kSymlink);
  EXPECT_EQ(mount_at(plan, "/usr")->kind, Kind::kReadOnly);
  EXPECT_EQ(mount_at(plan, "/proc/sys")->kind, Kind::kReadOnly);
  EXPECT_LT(place_of(plan, "/"), place_of(plan, "/usr"));
  EXPECT_EQ(plan.bubblewrap, "/usr/bin/bwrap");
}

TEST(Planner, SplitRootIsMirrored) {
  FakeHost host;
  host.directory("/sbin", 0).directory("/lib", 0);
  const ConfinementPlan plan = planned(policy_for(), host);
  EXPECT_EQ(mount_at(plan, "/sbin")->kind, Kind::kReadOnly);
  EXPECT_EQ(mount_at(plan, "/lib")->kind, Kind::kReadOnly);
}

TEST(Planner, RefusesUnsafeWorkspaces) {
  FakeHost host;
  host.link("/home/ada/work/to-root", "/").link("/home/ada/work/to-home", "/home/ada").file("/home/ada/file");
  for (const char* path : {"/", "/home", "/home/ada", "/usr", "/usr/bin", "/etc", "/none", "/home/ada/file",
                           "/home/ada/work/to-root", "/home/ada/work/to-home"}) {
    EXPECT_NE(refusal(policy_for(path), host), "") << path;
  }
  Policy home = policy_for("/home/ada");
  home.allow_home_as_workspace = true;
  EXPECT_EQ(refusal(home, host), "");
}

TEST(Planner, DeepestGrantWinsInAnyOrder) {
  FakeHost host;
  host.directory("/data/rw/ro");
  std::vector<domain::PathGrant> grants = {{.path = "/data", .access = Access::kReadOnly, .origin = "--ro"},
                                           {.path = "/data/rw", .access = Access::kReadWrite, .origin = "--rw"},
                                           {.path = "/data/rw/ro", .access = Access::kReadOnly, .origin = "--ro"}};
  std::ranges::sort(grants, {}, &domain::PathGrant::path);
  do {
    Policy policy = policy_for();
    policy.grants = grants;
    const ConfinementPlan plan = planned(policy, host);
    EXPECT_LT(place_of(plan, "/data"), place_of(plan, "/data/rw"));
    EXPECT_LT(place_of(plan, "/data/rw"), place_of(plan, "/data/rw/ro"));
    EXPECT_EQ(mount_at(plan, "/data/rw")->kind, Kind::kReadWrite);
  } while (std::ranges::next_permutation(grants, {}, &domain::PathGrant::path).found);
}

TEST(Planner, ConflictingGrantsAreRefused) {
  FakeHost host;
  host.directory("/data");
  Policy policy = policy_for();
  policy.grants = {{.path = "/data", .access = Access::kReadOnly, .origin = "--ro"},
                   {.path = "/data", .access = Access::kReadWrite, .origin = "--rw"}};
  EXPECT_THAT(refusal(policy, host), HasSubstr("Two different things"));
}

TEST(Planner, GrantsThatLeadSomewhereElseAreRefused) {
  FakeHost host;
  host.link("/to-root", "/").directory("/outside").link("/home/ada/work/planted", "/outside");
  for (const char* path : {"/", "/proc", "/to-root", "/home/ada/work/planted", "/none"}) {
    Policy policy = policy_for();
    policy.grants = {{.path = path, .access = Access::kReadOnly, .origin = "--ro"}};
    EXPECT_NE(refusal(policy, host), "") << path;
  }
}

TEST(Planner, ProtectionHoldsUnderEveryName) {
  FakeHost host;
  host.directory("/home/ada/work/.git/hooks").file("/home/ada/work/.git/config").link("/elsewhere", kWorkspace);
  Policy policy = policy_for();
  policy.aliases = {{.path = "/app", .target = kWorkspace}, {.path = "/hooks", .target = "/home/ada/work/.git/hooks"}};
  policy.grants = {{.path = "/elsewhere", .access = Access::kReadWrite, .origin = "--rw"}};
  const ConfinementPlan plan = planned(policy, host);
  for (const char* tree : {"/home/ada/work", "/app", "/elsewhere"}) {
    const std::string base = tree;
    ASSERT_NE(mount_at(plan, base + "/.git/config"), nullptr) << tree;
    EXPECT_EQ(mount_at(plan, base + "/.git/config")->kind, Kind::kReadOnly) << tree;
    EXPECT_EQ(mount_at(plan, base + "/.git/hooks")->kind, Kind::kReadOnly) << tree;
    EXPECT_EQ(mount_at(plan, base + "/.git")->kind, Kind::kReadWrite) << tree;
    EXPECT_EQ(mount_at(plan, base + "/.envrc")->kind, Kind::kReadOnly) << tree;
  }
  EXPECT_EQ(mount_at(plan, "/hooks")->kind, Kind::kReadOnly);
}

TEST(Planner, AliasesAreChecked) {
  FakeHost host;
  host.directory("/outside").link("/home/ada/work/link", "/outside");
  const std::vector<domain::PathAlias> bad = {{.path = "/app", .target = "/outside"},
                                              {.path = "/app", .target = "/home/ada/work/none"},
                                              {.path = "/app", .target = "/home/ada/work/link"},
                                              {.path = "/usr/app", .target = kWorkspace},
                                              {.path = "/", .target = kWorkspace},
                                              {.path = "/home", .target = kWorkspace},
                                              {.path = "/home/ada/work/x", .target = kWorkspace}};
  for (const domain::PathAlias& alias : bad) {
    Policy policy = policy_for();
    policy.aliases = {alias};
    EXPECT_NE(refusal(policy, host), "") << alias.path << " = " << alias.target;
  }
}

TEST(Planner, RootTakesTheOwnersIdentity) {
  FakeHost host;
  host.change_facts().euid = host.change_facts().egid = 0;
  ConfinementPlan plan = planned(policy_for(), host);
  EXPECT_TRUE(plan.identity.switch_user);
  EXPECT_EQ(plan.identity.host_uid, FakeHost::kUser);
  host.directory("/srv/project", 0);
  plan = planned(policy_for("/srv/project"), host);
  EXPECT_FALSE(plan.identity.switch_user);
  EXPECT_EQ(plan.identity.inside_uid, 1000U);
  EXPECT_TRUE(plan.protect_proc_sys);
}

TEST(Planner, ProcIsBareForNestedSandboxesOfOrdinaryUsers) {
  FakeHost host;
  Policy policy = policy_for();
  policy.nested_sandboxes = true;
  EXPECT_EQ(mount_at(planned(policy, host), "/proc/sys"), nullptr);
  EXPECT_EQ(planned(policy, host).landlock.abi, 0);
}

TEST(Planner, LoopbackRulesGetListeners) {
  const FakeHost host;
  Policy policy = policy_for();
  policy.network = domain::NetworkScope::kAllowlist;
  for (const char* text : {"localhost:8080", "127.0.0.1:80", "localhost:9", "example.com:9000"}) {
    policy.allow.push_back(*domain::parse_network_rule(text));
  }
  const ConfinementPlan plan = planned(policy, host);
  ASSERT_EQ(plan.listeners.size(), 3U);
  EXPECT_EQ(plan.listeners[0].port, kProxyPort);
  EXPECT_EQ(plan.listeners[1].payload, "direct 127.0.0.1 8080");
  EXPECT_FALSE(plan.listeners[2].required);
  EXPECT_THAT(plan.notes, testing::Contains(testing::HasSubstr("Port 80 "))) << "nothing below 1024 can listen inside";
  EXPECT_THAT(plan.notes, testing::Contains(testing::HasSubstr("Port 9 ")).Times(1)) << "once for both families";
}

}  // namespace
}  // namespace cofferdam::confinement
