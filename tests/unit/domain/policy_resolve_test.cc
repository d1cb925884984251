#include "domain/policy_resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "domain/policy_file.h"

namespace cofferdam::domain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Flags as pairs, a policy file as text, and a caller in /work/project with the home /home/me.
struct Input {
  std::vector<std::pair<std::string, std::string>> flags;
  std::string file;
  std::map<std::string, std::string, std::less<>> environment;
  std::string current_directory = "/work/project";
  std::string home = "/home/me";
  bool is_root = false;
};

Caller caller_of(const Input& input) {
  return {.current_directory = input.current_directory,
          .home = input.home,
          .is_root = input.is_root,
          .environment = [variables = input.environment](std::string_view name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

Result<PolicySettings> flags_of(const Input& input, const Caller& caller) {
  PolicySettings settings;
  for (const auto& [name, text] : input.flags) {
    const auto spec = std::ranges::find(setting_specs(), name, &SettingSpec::name);
    if (spec == setting_specs().end() || !spec->is_flag) return Error(ErrorCode::kInternal, "no flag " + name);
    RETURN_IF_ERROR(apply_flag(*spec, settings, text, {"--" + name, caller.current_directory, caller.home}));
  }
  return settings;
}

Result<ResolvedPolicy> resolved(const Input& input) {
  const Caller caller = caller_of(input);
  ASSIGN_OR_RETURN(const PolicySettings flags, flags_of(input, caller));
  auto file = parse_policy_file(input.file, {"p.yaml", "/work/project", caller.home});
  if (!file) return std::move(file.error().front());
  return resolve_policy(*file, flags, caller);
}

Policy policy_of(const Input& input) {
  auto out = resolved(input);
  if (!out) {
    ADD_FAILURE() << out.error().to_string();
    return {};
  }
  return std::move(out->policy);
}

std::string error_of(const Input& input) {
  const auto out = resolved(input);
  return out ? "no error" : out.error().to_string();
}

std::vector<std::string> texts(const std::vector<NetworkRule>& rules) {
  std::vector<std::string> out;
  for (const NetworkRule& rule : rules) out.push_back(rule.text);
  return out;
}

std::vector<std::string> paths(const std::vector<PathGrant>& grants) {
  std::vector<std::string> out;
  for (const PathGrant& grant : grants) {
    out.push_back((grant.access == Access::kReadWrite ? "rw " : "ro ") + grant.path);
  }
  return out;
}

TEST(PolicyResolveTest, TheDefaultsAreSafe) {
  const auto out = resolved({});
  ASSERT_TRUE(out);
  const Policy& policy = out->policy;
  EXPECT_EQ(policy.workspace, "/work/project");
  EXPECT_EQ(policy.working_directory, "/work/project");
  EXPECT_EQ(policy.filesystem, FilesystemScope::kWorkspace);
  EXPECT_EQ(policy.network, NetworkScope::kDeny);
  EXPECT_THAT(policy.grants, IsEmpty());
  EXPECT_THAT(policy.variables.set, IsEmpty());
  EXPECT_FALSE(policy.nested_sandboxes);
  EXPECT_FALSE(policy.git_config_writable);
  EXPECT_FALSE(policy.agent_settings_writable);
  EXPECT_FALSE(policy.allow_home_as_workspace);
  EXPECT_EQ(policy.bubblewrap, "bwrap");
  EXPECT_EQ(policy.home, "/home/me");
  EXPECT_THAT(out->notes, IsEmpty());
}

TEST(PolicyResolveTest, TheDefaultPassListHoldsNoSecretAndNoPath) {
  for (const std::string& name : policy_of({}).variables.pass) {
    for (const char* part : {"KEY", "TOKEN", "SECRET", "PASS", "PATH", "HOME", "PROXY", "SSH", "AWS"}) {
      EXPECT_EQ(name.find(part), std::string::npos) << name;
    }
  }
  EXPECT_THAT(policy_of({}).variables.pass, Contains("LANG"));
}

TEST(PolicyResolveTest, PathsAreRelativeToTheCurrentDirectory) {
  const Policy policy =
      policy_of({.flags = {{"workspace", "sub/../w"}, {"ro", "tools/"}, {"rw", "/var/cache//x"}, {"ro", "~/sdk"}}});
  EXPECT_EQ(policy.workspace, "/work/project/w");
  EXPECT_EQ(policy.working_directory, "/work/project/w");
  EXPECT_THAT(paths(policy.grants), ElementsAre("ro /work/project/tools", "rw /var/cache/x", "ro /home/me/sdk"));
}

TEST(PolicyResolveTest, TheCommandStartsWhereTheCallerIsWhenThatIsInTheWorkspace) {
  EXPECT_EQ(policy_of({.flags = {{"workspace", "/work"}}}).working_directory, "/work/project");
  EXPECT_EQ(policy_of({.flags = {{"workspace", "/srv/x"}}}).working_directory, "/srv/x");
  EXPECT_EQ(policy_of({.flags = {{"workspace", "/srv/x"}, {"cwd", "/srv/x/y"}}}).working_directory, "/srv/x/y");
  EXPECT_EQ(policy_of({.flags = {{"filesystem", "host"}, {"cwd", "/etc"}}}).working_directory, "/etc");
  EXPECT_EQ(error_of({.flags = {{"cwd", "/etc"}}}), "--cwd: \"/etc\" must be inside the workspace \"/work/project\"");
}

TEST(PolicyResolveTest, SomeDirectoriesCannotBeTheWorkspace) {
  EXPECT_EQ(error_of({.flags = {{"workspace", "/"}}}), "--workspace: the root directory cannot be the workspace");
  EXPECT_EQ(error_of({.flags = {{"workspace", "/home"}}}),
            "--workspace: \"/home\" cannot be the workspace, the home directory lies in it");
  EXPECT_EQ(error_of({.current_directory = "/home/me"}),
            "the current directory: the home directory \"/home/me\" as workspace hands over everything in it");
  EXPECT_EQ(policy_of({.flags = {{"allow-home", ""}}, .current_directory = "/home/me"}).workspace, "/home/me");
  EXPECT_EQ(error_of({.flags = {{"allow-home", ""}, {"workspace", "/home"}}}),
            "--workspace: \"/home\" cannot be the workspace, the home directory lies in it");
  EXPECT_EQ(policy_of({.flags = {{"workspace", "/home/me2"}}}).workspace, "/home/me2");
  EXPECT_EQ(policy_of({.flags = {{"filesystem", "host"}, {"workspace", "/"}}}).workspace, "/");
}

struct Conflict {
  const char* name;
  std::vector<std::pair<std::string, std::string>> flags;
  const char* message;
};

class ConflictTest : public testing::TestWithParam<Conflict> {};

TEST_P(ConflictTest, IsAnErrorThatNamesBothSides) {
  EXPECT_EQ(error_of({.flags = GetParam().flags}), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Flags, ConflictTest,
    testing::Values(
        Conflict{"AllowUnderDeny",
                 {{"network", "deny"}, {"allow", "a.example.com"}},
                 "--allow a.example.com contradicts --network deny"},
        Conflict{"AllowUnderOpen",
                 {{"network", "open"}, {"allow", "a.example.com"}},
                 "--allow a.example.com contradicts --network open"},
        Conflict{"DenyUnderOpen",
                 {{"network", "open"}, {"deny", "a.example.com"}},
                 "--deny a.example.com contradicts --network open"},
        Conflict{"DenyAlone",
                 {{"deny", "a.example.com"}},
                 "--deny a.example.com has no effect: the network is denied altogether"},
        Conflict{"EmptyAllowlist", {{"network", "allowlist"}}, "--network allowlist needs at least one rule"},
        Conflict{"TwoScopes",
                 {{"network", "deny"}, {"network", "open"}},
                 "--network: given twice with different values; keep one of them"},
        Conflict{"TwoSizes",
                 {{"memory", "1G"}, {"memory", "2G"}},
                 "--memory: given twice with different values; keep one of them"},
        Conflict{"TwoAccesses",
                 {{"ro", "/opt/x"}, {"rw", "/opt/x/"}},
                 "\"/opt/x\" is granted read-only and writable (--ro, --rw)"},
        Conflict{"RootGrant", {{"ro", "/"}}, "--ro: the root directory cannot be granted"},
        Conflict{"RestoreWithoutRw", {{"restore", "/var/x"}}, "--restore: nothing at or below \"/var/x\" is writable"},
        Conflict{"RestoreOfReadOnly",
                 {{"restore", "/var/x"}, {"ro", "/var/x"}},
                 "--restore: nothing at or below \"/var/x\" is writable"},
        Conflict{"ProtectOutside",
                 {{"protect", "/etc/passwd"}},
                 "--protect: \"/etc/passwd\" is not inside the workspace \"/work/project\""},
        Conflict{"ProtectEscapes",
                 {{"protect", "../x"}},
                 "--protect: \"../x\" is not inside the workspace \"/work/project\""},
        Conflict{"ProtectAll", {{"protect", "."}}, "--protect: the workspace itself cannot be protected"},
        Conflict{"AliasOutside",
                 {{"alias", "/app=/etc"}},
                 "--alias: \"/etc\" is not inside the workspace \"/work/project\""},
        Conflict{"AliasOverAll", {{"alias", "/=src"}}, "--alias: \"/\" would cover the workspace"},
        Conflict{"AliasOverParent", {{"alias", "/work=src"}}, "--alias: \"/work\" would cover the workspace"},
        Conflict{
            "AliasTwice", {{"alias", "/app=a"}, {"alias", "/app=b"}}, "--alias: \"/app\" has two different targets"},
        Conflict{"AliasWithoutTarget", {{"alias", "/app"}}, "--alias: \"/app\" must be written PATH=TARGET"},
        Conflict{"BadRule",
                 {{"allow", "*"}},
                 "--allow: network rule \"*\" covers every host: use the open network scope if that is meant"},
        Conflict{"BadProfile",
                 {{"profile", "claud"}},
                 "--profile: \"claud\" is not a profile; there are claude_local, codex_local, gemini_local, "
                 "cursor_local, opencode_local, pi_local"},
        Conflict{"BadVariable", {{"env", "=x"}}, "--env: \"\" is not the name of an environment variable"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(PolicyResolveTest, WhatMayStandTogetherDoes) {
  EXPECT_EQ(policy_of({.flags = {{"rw", "/var/x"}}}).restore_paths.size(), 0U);
  EXPECT_THAT(policy_of({.flags = {{"rw", "/var/x"}, {"restore", "/var"}}}).restore_paths, ElementsAre("/var"));
  EXPECT_THAT(policy_of({.flags = {{"rw", "/var"}, {"restore", "/var/x"}}}).restore_paths, ElementsAre("/var/x"));
  EXPECT_THAT(policy_of({.flags = {{"filesystem", "host"}, {"restore", "/var/x"}}}).restore_paths,
              ElementsAre("/var/x"));
  EXPECT_THAT(policy_of({.flags = {{"protect", "a"}, {"protect", "/work/project/a/"}}}).protect,
              ElementsAre("/work/project/a"));
  EXPECT_THAT(policy_of({.flags = {{"alias", "/app=."}}}).aliases, ElementsAre(PathAlias{"/app", "/work/project"}));
  EXPECT_EQ(policy_of({.flags = {{"network", "open"}, {"network", "open"}}}).network, NetworkScope::kOpen);
}

TEST(PolicyResolveTest, AnAllowRuleMeansAllowlist) {
  const Policy policy =
      policy_of({.flags = {{"allow", "a.example.com"}, {"allow", "a.example.com"}, {"deny", "b.example.com"}}});
  EXPECT_EQ(policy.network, NetworkScope::kAllowlist);
  EXPECT_THAT(texts(policy.allow), ElementsAre("a.example.com"));
  EXPECT_THAT(texts(policy.deny), ElementsAre("b.example.com"));
}

TEST(PolicyResolveTest, AnOpenedScopeIsSaidOnce) {
  const auto out = resolved({.flags = {{"filesystem", "host"}, {"network", "open"}}});
  ASSERT_TRUE(out);
  EXPECT_THAT(out->notes,
              ElementsAre("the file system is open: the command sees and changes what you can (filesystem host)",
                          "the network is open: nothing is filtered or recorded (network open)"));
}

// ------------------------------------------------------------------------------------------------- file and flags

TEST(PolicyResolveTest, FlagsWinOverTheFile) {
  const Policy policy = policy_of({.flags = {{"memory", "1G"}, {"ro", "/opt/x"}, {"nested", "off"}},
                                   .file = "limits: {memory: 2G, pids: 7}\nrw: [/opt/x, /opt/y]\nnested: on\n"});
  EXPECT_EQ(policy.limits.memory_bytes, 1U << 30);
  EXPECT_EQ(policy.limits.pids, 7U);
  EXPECT_THAT(paths(policy.grants), ElementsAre("rw /opt/y", "ro /opt/x"));
  EXPECT_FALSE(policy.nested_sandboxes);
}

TEST(PolicyResolveTest, ListsOfBothAddUp) {
  const Policy policy =
      policy_of({.flags = {{"allow", "b.example.com"}}, .file = "allow: [a.example.com]\ndeny: [c.example.com]\n"});
  EXPECT_THAT(texts(policy.allow), ElementsAre("a.example.com", "b.example.com"));
  EXPECT_THAT(texts(policy.deny), ElementsAre("c.example.com"));
}

TEST(PolicyResolveTest, AScopeOfTheFlagsSilencesTheFilesRulesWithAWord) {
  const auto denied = resolved({.flags = {{"network", "deny"}}, .file = "allow: [a.example.com]\n"});
  ASSERT_TRUE(denied) << denied.error().to_string();
  EXPECT_EQ(denied->policy.network, NetworkScope::kDeny);
  EXPECT_THAT(denied->policy.allow, IsEmpty());
  EXPECT_THAT(denied->notes, ElementsAre("the network rules of the policy file are not used: --network deny wins"));
  EXPECT_EQ(policy_of({.flags = {{"allow", "a.example.com"}}, .file = "network: open\n"}).network,
            NetworkScope::kAllowlist);
}

TEST(PolicyResolveTest, ConflictsWithinTheFileNameItsLines) {
  EXPECT_EQ(error_of({.file = "network: deny\nallow: [a.example.com]\n"}),
            "p.yaml:2: allow a.example.com contradicts p.yaml:1: network deny");
  EXPECT_EQ(error_of({.file = "ro: [/x]\nrw: [/x]\n"}),
            "\"/x\" is granted read-only and writable (p.yaml:1: ro, p.yaml:2: rw)");
}

TEST(PolicyResolveTest, TheLastWordOnAVariableWins) {
  const Policy policy =
      policy_of({.flags = {{"env", "A=flag"}, {"env", "B"}, {"env", "LANG=C"}, {"env", "D=1"}, {"env", "D=2"}},
                 .file = "variables: {set: {A: file, B: file, C: file}}\n"});
  EXPECT_THAT(policy.variables.set, ElementsAre(EnvironmentVariable{"C", "file"}, EnvironmentVariable{"A", "flag"},
                                                EnvironmentVariable{"LANG", "C"}, EnvironmentVariable{"D", "2"}));
  EXPECT_THAT(policy.variables.pass, Contains("B"));
  EXPECT_THAT(policy.variables.pass, Not(Contains("LANG")));
}

TEST(PolicyResolveTest, ProcessorTimeIsRoundedUpToSeconds) {
  EXPECT_EQ(policy_of({.flags = {{"cpu-time", "1500ms"}}}).limits.cpu_time, std::chrono::seconds(2));
}

// -------------------------------------------------------------------------------------------------------- profiles

TEST(PolicyResolveTest, AProfileMeansAnAllowlistWithItsHosts) {
  const Policy policy = policy_of({.flags = {{"profile", "claude_local"}, {"allow", "x.example.com"}}});
  EXPECT_EQ(policy.network, NetworkScope::kAllowlist);
  EXPECT_THAT(texts(policy.allow), ElementsAre("api.anthropic.com", "claude.com", "platform.claude.com", "claude.ai",
                                               "console.anthropic.com", "x.example.com"));
  EXPECT_THAT(policy.profiles, ElementsAre("claude_local"));
}

TEST(PolicyResolveTest, TheNetworkFlagWinsOverAProfile) {
  EXPECT_EQ(policy_of({.flags = {{"profile", "claude_local"}, {"network", "deny"}}}).network, NetworkScope::kDeny);
  EXPECT_THAT(policy_of({.flags = {{"profile", "claude_local"}, {"network", "deny"}}}).allow, IsEmpty());
  EXPECT_EQ(policy_of({.flags = {{"profile", "claude_local"}, {"network", "open"}}}).network, NetworkScope::kOpen);
  EXPECT_THAT(texts(policy_of({.flags = {{"profile", "pi_local"}, {"deny", "claude.com"}}}).deny),
              ElementsAre("claude.com"));
}

TEST(PolicyResolveTest, AProfileBindsItsDirectoriesAndGuardsItsSettings) {
  const Policy policy = policy_of({.flags = {{"profile", "claude_local"}}});
  EXPECT_THAT(paths(policy.home_paths), Contains("rw /home/me/.claude"));
  EXPECT_THAT(paths(policy.home_paths), Contains("ro /home/me/.claude/settings.json"));
  EXPECT_THAT(paths(policy.home_paths), Contains("ro /home/me/.claude/hooks"));
  EXPECT_EQ(policy.home_files.at(0).name, ".claude.json");
  EXPECT_THAT(policy.home_files.at(0).guarded_members, Contains("mcpServers"));
  for (const PathGrant& grant : policy.home_paths) {
    EXPECT_TRUE(grant.optional) << grant.path;
    EXPECT_EQ(grant.placeholder == PathGrant::Placeholder::kNone, grant.access == Access::kReadWrite) << grant.path;
  }
}

TEST(PolicyResolveTest, WritableAgentSettingsGuardNothing) {
  const Policy policy = policy_of({.flags = {{"profile", "claude_local"}, {"agent-settings", "writable"}}});
  EXPECT_THAT(paths(policy.home_paths), ElementsAre("rw /home/me/.claude"));
  EXPECT_THAT(policy.home_files.at(0).guarded_members, IsEmpty());
}

TEST(PolicyResolveTest, AMovedAgentDirectoryIsBoundWhereItIs) {
  const Policy policy =
      policy_of({.flags = {{"profile", "codex_local"}}, .environment = {{"CODEX_HOME", "/data/codex"}}});
  EXPECT_THAT(paths(policy.home_paths), Contains("rw /data/codex"));
  EXPECT_THAT(paths(policy.home_paths), Contains("ro /data/codex/config.toml"));
  EXPECT_THAT(policy.variables.pass, Contains("CODEX_HOME"));
  const Policy relative = policy_of({.flags = {{"profile", "codex_local"}}, .environment = {{"CODEX_HOME", "x"}}});
  EXPECT_THAT(paths(relative.home_paths), Contains("rw /home/me/.codex"));
}

TEST(PolicyResolveTest, NestedSandboxesAreOnForCodexUnlessSaidOtherwise) {
  EXPECT_TRUE(policy_of({.flags = {{"profile", "codex_local"}}}).nested_sandboxes);
  EXPECT_FALSE(policy_of({.flags = {{"profile", "codex_local"}, {"nested", "off"}}}).nested_sandboxes);
  EXPECT_FALSE(policy_of({.flags = {{"profile", "claude_local"}}}).nested_sandboxes);
  EXPECT_TRUE(policy_of({.flags = {{"nested", "on"}}}).nested_sandboxes);
}

TEST(PolicyResolveTest, AProfilePassesKeysAndSetsSwitches) {
  const Policy policy = policy_of({.flags = {{"profile", "claude_local"}}});
  EXPECT_THAT(policy.variables.pass, Contains("ANTHROPIC_API_KEY"));
  EXPECT_THAT(policy.variables.pass, Contains("NODE_EXTRA_CA_CERTS"));
  EXPECT_THAT(policy.variables.set, Contains(EnvironmentVariable{"DISABLE_AUTOUPDATER", "1"}));
  EXPECT_THAT(policy.variables.set, Not(Contains(EnvironmentVariable{"IS_SANDBOX", "1"})));
  EXPECT_THAT(policy_of({.flags = {{"profile", "claude_local"}}, .is_root = true}).variables.set,
              Contains(EnvironmentVariable{"IS_SANDBOX", "1"}));
  EXPECT_THAT(policy_of({.flags = {{"profile", "codex_local"}}, .is_root = true}).variables.set,
              Not(Contains(EnvironmentVariable{"IS_SANDBOX", "1"})));
}

TEST(PolicyResolveTest, ACertificateFileThatTheCallerNamesIsReadable) {
  const Policy policy =
      policy_of({.flags = {{"profile", "gemini_local"}}, .environment = {{"NODE_EXTRA_CA_CERTS", "/pki/ca.pem"}}});
  EXPECT_THAT(paths(policy.grants), ElementsAre("ro /pki/ca.pem"));
  EXPECT_TRUE(policy.grants.at(0).optional);
}

TEST(PolicyResolveTest, AProfileNeedsAHome) {
  EXPECT_EQ(error_of({.flags = {{"profile", "pi_local"}}, .home = ""}),
            "a profile needs a home directory and HOME is not set");
  EXPECT_THAT(paths(policy_of({.flags = {{"profile", "pi_local"}, {"home", "/srv/h"}}, .home = ""}).home_paths),
              Contains("rw /srv/h/.pi"));
}

TEST(PolicyResolveTest, ProfilesAddUp) {
  const Policy policy =
      policy_of({.flags = {{"profile", "claude_local"}, {"profile", "codex_local"}, {"profile", "claude_local"}}});
  EXPECT_THAT(policy.profiles, ElementsAre("claude_local", "codex_local"));
  EXPECT_THAT(texts(policy.allow), Contains("api.openai.com"));
  EXPECT_TRUE(policy.nested_sandboxes);
}

}  // namespace
}  // namespace cofferdam::domain
