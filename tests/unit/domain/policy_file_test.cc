#include "domain/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cofferdam::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const PolicyFileLocation kLocation{"p.yaml", "/project/conf", "/home/me"};

PolicySettings settings_of(const std::string& text) {
  auto settings = parse_policy_file(text, kLocation);
  if (!settings) {
    ADD_FAILURE() << settings.error().front().to_string();
    return {};
  }
  return std::move(*settings);
}

std::vector<std::string> problems_of(const std::string& text) {
  const auto settings = parse_policy_file(text, kLocation);
  std::vector<std::string> out;
  if (settings) return out;
  for (const Error& error : settings.error()) {
    out.push_back(error.to_string() + (error.hint().empty() ? "" : " | " + error.hint()));
  }
  return out;
}

constexpr const char* kEverything = R"(
workspace: ..
filesystem: workspace
ro: [/opt/tools, ~/sdk]
rw: cache
restore: [cache]
protect: [secrets.env]
alias: {/app: sub}
git-config: writable
agent-settings: writable
allow-home: on
network: allowlist
allow: [api.example.com, "10.0.0.0/8:5432"]
deny: [bad.example.com]
profile: [codex_local]
home: "~"
nested: off
bubblewrap: /usr/bin/bwrap
limits:
  memory: 2GiB
  pids: 100
  cpus: 1.5
  open-files: 64
  file-size: 1M
  tmpfs-size: 64M
  timeout: 1h30m
  cpu-time: 90s
variables:
  pass: [FOO]
  set: {BAR: 1, EMPTY: ""}
)";

TEST(PolicyFileTest, FilesystemKeys) {
  const PolicySettings s = settings_of(kEverything);
  EXPECT_EQ(s.workspace->value, "/project");
  EXPECT_EQ(s.workspace->where, "p.yaml:2: workspace");
  EXPECT_EQ(s.filesystem->value, FilesystemScope::kWorkspace);
  EXPECT_THAT(
      s.grants,
      ElementsAre(PathGrant{.path = "/opt/tools", .origin = "p.yaml:4: ro"},
                  PathGrant{.path = "/home/me/sdk", .origin = "p.yaml:4: ro"},
                  PathGrant{.path = "/project/conf/cache", .access = Access::kReadWrite, .origin = "p.yaml:5: rw"}));
  EXPECT_EQ(s.restore.at(0).value, "/project/conf/cache");
  EXPECT_EQ(s.protect.at(0).value, "secrets.env");
  EXPECT_EQ(s.aliases.at(0).value, (PathAlias{"/app", "sub"}));
  EXPECT_TRUE(s.git_config_writable->value);
  EXPECT_TRUE(s.agent_settings_writable->value);
  EXPECT_TRUE(s.allow_home->value);
  EXPECT_EQ(s.bubblewrap->value, "/usr/bin/bwrap");
}

TEST(PolicyFileTest, NetworkAgentsAndVariables) {
  const PolicySettings s = settings_of(kEverything);
  EXPECT_EQ(s.network->value, NetworkScope::kAllowlist);
  ASSERT_EQ(s.allow.size(), 2U);
  EXPECT_EQ(s.allow[0].value.host, "api.example.com");
  EXPECT_EQ(s.allow[1].value.addresses.prefix_bits, 8);
  EXPECT_EQ(s.deny.at(0).value.text, "bad.example.com");
  EXPECT_EQ(s.profiles.at(0).value, "codex_local");
  EXPECT_EQ(s.home->value, "/home/me");
  EXPECT_FALSE(s.nested->value);
  ASSERT_EQ(s.variables.size(), 3U);
  EXPECT_EQ(s.variables[0].value.name, "FOO");
  EXPECT_FALSE(s.variables[0].value.value);
  EXPECT_EQ(s.variables[1].value.value, "1");
  EXPECT_EQ(s.variables[2].value.value, "");
}

TEST(PolicyFileTest, Limits) {
  const PolicySettings s = settings_of(kEverything);
  EXPECT_EQ(s.memory->value, std::uint64_t{2} << 30);
  EXPECT_EQ(s.pids->value, 100U);
  EXPECT_EQ(s.cpus->value, 1.5);
  EXPECT_EQ(s.open_files->value, 64U);
  EXPECT_EQ(s.file_size->value, 1U << 20);
  EXPECT_EQ(s.tmpfs_size->value, 64U << 20);
  EXPECT_EQ(s.timeout->value, std::chrono::minutes(90));
  EXPECT_EQ(s.cpu_time->value, std::chrono::seconds(90));
}

TEST(PolicyFileTest, EveryFileKeyOfTheTableIsInTheTestAbove) {
  for (const SettingSpec& spec : setting_specs()) {
    if (spec.place == SettingSpec::Place::kFlagOnly) continue;
    EXPECT_NE(std::string_view(kEverything).find(std::string(spec.name) + ":"), std::string_view::npos) << spec.name;
  }
}

TEST(PolicyFileTest, AnEmptyFileAsksForNothing) {
  EXPECT_THAT(problems_of(""), IsEmpty());
  EXPECT_THAT(problems_of("# nothing\n"), IsEmpty());
  EXPECT_THAT(problems_of("{}\n"), IsEmpty());
  EXPECT_THAT(problems_of("ro: []\nlimits: {}\n"), IsEmpty());
}

TEST(PolicyFileTest, UnknownKeysNameFileLineAndKey) {
  EXPECT_THAT(problems_of("ro: []\nnetwrk: deny\n"),
              ElementsAre("p.yaml:2: unknown key \"netwrk\" | did you mean \"network\"?"));
  EXPECT_THAT(problems_of("zebra: 1\n"), ElementsAre("p.yaml:1: unknown key \"zebra\""));
  EXPECT_THAT(problems_of("limits:\n  pid: 1\n"),
              ElementsAre("p.yaml:2: unknown key \"pid\" in limits | did you mean \"pids\"?"));
  EXPECT_THAT(problems_of("limits: {open_files: 1}\n"),
              ElementsAre("p.yaml:1: unknown key \"open_files\" in limits | did you mean \"open-files\"?"));
  EXPECT_THAT(problems_of("memory: 1G\n"),
              ElementsAre("p.yaml:1: unknown key \"memory\" | \"memory\" stands in the group limits"));
  EXPECT_THAT(problems_of("limits: {network: deny}\n"),
              ElementsAre("p.yaml:1: unknown key \"network\" in limits | \"network\" stands at the top level"));
  EXPECT_THAT(problems_of("env: [A]\n"),
              ElementsAre("p.yaml:1: unknown key \"env\" | write variables: {pass: [NAME], set: {NAME: VALUE}}"));
  EXPECT_THAT(problems_of("cwd: /x\n"), ElementsAre("p.yaml:1: unknown key \"cwd\" | --cwd is a flag only"));
  EXPECT_THAT(problems_of("\"a\\nb\": 1\n"), ElementsAre("p.yaml:1: unknown key \"a\\x0ab\""));
}

TEST(PolicyFileTest, WrongTypesNameFileLineAndKey) {
  EXPECT_THAT(problems_of("- a\n"), ElementsAre("p.yaml:1: expected a map of keys, found a list"));
  EXPECT_THAT(problems_of("network: [deny]\n"),
              ElementsAre("p.yaml:1: network: expected a single value, found a list"));
  EXPECT_THAT(problems_of("network:\n"), ElementsAre("p.yaml:1: network: expected a single value, found nothing"));
  EXPECT_THAT(problems_of("ro: {a: b}\n"), ElementsAre("p.yaml:1: ro: expected a list of texts, found a map"));
  EXPECT_THAT(problems_of("ro:\n- a\n- [b]\n"), ElementsAre("p.yaml:3: ro: expected a single value, found a list"));
  EXPECT_THAT(problems_of("ro:\n- ~\n"), ElementsAre("p.yaml:2: ro: expected a single value, found nothing"));
  EXPECT_THAT(problems_of("limits: 5\n"), ElementsAre("p.yaml:1: limits: expected a map of keys, found a text"));
  EXPECT_THAT(problems_of("alias: [/a]\n"),
              ElementsAre("p.yaml:1: alias: expected a map of single values, found a list"));
  EXPECT_THAT(problems_of("variables: {set: {A: [1]}}\n"),
              ElementsAre("p.yaml:1: variables.set.A: expected a single value, found a list"));
}

TEST(PolicyFileTest, WrongValuesNameFileLineAndKey) {
  EXPECT_THAT(problems_of("filesystem: full\n"),
              ElementsAre("p.yaml:1: filesystem: \"full\" is not one of workspace, host"));
  EXPECT_THAT(problems_of("network: Deny\n"),
              ElementsAre("p.yaml:1: network: \"Deny\" is not one of deny, allowlist, open"));
  EXPECT_THAT(problems_of("limits:\n  memory: 3Q\n"),
              ElementsAre("p.yaml:2: limits.memory: \"3Q\" is not a size; write for example 512M or 2GiB"));
  EXPECT_THAT(problems_of("nested: yes\n"), ElementsAre("p.yaml:1: nested: \"yes\" is not one of on, off"));
  EXPECT_THAT(problems_of("git-config: ro\n"),
              ElementsAre("p.yaml:1: git-config: \"ro\" is not one of protected, writable"));
  EXPECT_THAT(problems_of("alias: {app: sub}\n"), ElementsAre("p.yaml:1: alias: \"app\" must be an absolute path"));
  EXPECT_THAT(problems_of("ro: ['']\n"), ElementsAre("p.yaml:1: ro: an empty path"));
  EXPECT_THAT(problems_of("ro: [\"a\\0b\"]\n"), ElementsAre("p.yaml:1: ro: \"a\\x00b\" holds a NUL byte"));
  EXPECT_THAT(problems_of("variables: {pass: ['A=B']}\n"),
              ElementsAre("p.yaml:1: variables.pass: \"A=B\" is not the name of an environment variable"));
}

TEST(PolicyFileTest, TheValueOfAVariableIsNeverInAMessage) {
  const auto problems = problems_of("variables: {set: {TOKEN: \"s3cret\\0x\"}}\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].find("s3cret"), std::string::npos) << problems[0];
}

TEST(PolicyFileTest, AllProblemsComeAtOnceUpToABound) {
  EXPECT_EQ(problems_of("a1: 1\nnetwork: x\nlimits: {pids: 0}\n").size(), 3U);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "zzz" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(problems_of(many).size(), 20U);
}

TEST(PolicyFileTest, TildeWithoutAHomeIsAnError) {
  const auto settings = parse_policy_file("ro: [~/x]\n", {"p.yaml", "/project", ""});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().front().to_string(), "p.yaml:1: ro: \"~/x\" needs a home directory and HOME is not set");
}

}  // namespace
}  // namespace cofferdam::domain
