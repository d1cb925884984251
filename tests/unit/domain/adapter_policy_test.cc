// The builder behind Paperclip's adapter keys: checks, their order and texts, and the wiring of Claude and Codex.
#include "domain/adapter_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

namespace cofferdam::domain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Input {
  std::string json = R"({"filesystemScope":"workspace"})";
  BuilderOptions options = {.workspace_dir = "/work/project",
                            .cwd = {},
                            .managed_paths = {},
                            .path_aliases = {},
                            .outbound_restore_paths = {},
                            .home_dir = {},
                            .network_trusted_urls = {}};
  AdapterRun run = {};
  std::map<std::string, std::string, std::less<>> environment = {};
};

Result<ResolvedPolicy> resolved(const Input& input) {
  const Caller caller{.current_directory = "/work/project",
                      .home = "/home/me",
                      .is_root = false,
                      .environment = [&](std::string_view name) -> std::optional<std::string> {
                        const auto found = input.environment.find(name);
                        return found == input.environment.end() ? std::nullopt : std::optional(found->second);
                      }};
  ASSIGN_OR_RETURN(const AdapterConfig config, parse_adapter_config(input.json));
  return resolve_adapter_policy(config, input.run, input.options, caller);
}

ResolvedPolicy policy_of(const Input& input) {
  auto out = resolved(input);
  if (!out) {
    ADD_FAILURE() << out.error().to_string();
    return {};
  }
  return std::move(*out);
}

std::string error_of(const Input& input) {
  const auto out = resolved(input);
  return out ? "no error" : out.error().message();
}

// Input with changes to the builder's options.
Input with(const std::string& json, const std::function<void(BuilderOptions&)>& change) {
  Input input{.json = json};
  change(input.options);
  return input;
}

constexpr const char* kWorkspaceScope = R"({"filesystemScope":"workspace"})";
constexpr const char* kRwOutside =
    R"({"filesystemScope":"workspace","filesystemExtraPaths":[{"path":"/var/cache/pnpm/","access":"rw"}]})";
constexpr const char* kUnmapped =
    "Writable sandbox path \"/var/cache/pnpm\" is outside synchronized workspace \"/work/project\" and has no outbound "
    "restore mapping.";

TEST(AdapterPolicyTest, T4OtherPlatformsAreRefused) {
  EXPECT_TRUE(check_platform("linux"));
  const Status status = check_platform("darwin");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "Local process filesystem and network scopes are currently supported only on Linux.");
}

TEST(AdapterPolicyTest, OneScopeAtLeast) {
  EXPECT_EQ(error_of({.json = "{}"}), "Local process sandbox requires a filesystem or network scope.");
  EXPECT_EQ(error_of({.json = R"({"engine":"acp"})"}), "Local process sandbox requires a filesystem or network scope.");
}

TEST(AdapterPolicyTest, EachScopeAlone) {
  const Policy filesystem = policy_of({.json = kWorkspaceScope}).policy;
  EXPECT_EQ(filesystem.filesystem, FilesystemScope::kWorkspace);
  EXPECT_EQ(filesystem.network, NetworkScope::kOpen);
  const Policy network = policy_of({.json = R"({"networkScope":"deny"})"}).policy;  // T9
  EXPECT_EQ(network.filesystem, FilesystemScope::kHost);
  EXPECT_EQ(network.network, NetworkScope::kDeny);
  EXPECT_THAT(network.allow, IsEmpty());
}

TEST(AdapterPolicyTest, DirectoriesMustBeAbsolute) {
  const auto workspace = [](const char* path) {
    return with(kWorkspaceScope, [&](BuilderOptions& o) { o.workspace_dir = path; });
  };
  EXPECT_EQ(error_of(workspace("rel")), "Sandbox workspaceDir must be an absolute path.");
  EXPECT_EQ(error_of(workspace("  ")), "Sandbox workspaceDir must be an absolute path.");
  EXPECT_EQ(error_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.cwd = "sub"; })),
            "Sandbox cwd must be an absolute path.");
  EXPECT_EQ(error_of(with(R"({"networkScope":"deny"})", [](BuilderOptions& o) { o.workspace_dir = "rel"; })),
            "Sandbox workspaceDir must be an absolute path.");
}

TEST(AdapterPolicyTest, TheWorkingDirectoryMustBeInsideInThisScopeOnly) {
  const auto outside = [](BuilderOptions& o) { o.cwd = "/work/project2"; };
  EXPECT_EQ(error_of(with(kWorkspaceScope, outside)),
            "Sandbox cwd \"/work/project2\" must be inside workspaceDir \"/work/project\".");
  EXPECT_EQ(policy_of(with(R"({"networkScope":"deny"})", outside)).policy.working_directory, "/work/project2");
  // By components: a directory whose name begins with two dots is inside.
  EXPECT_EQ(policy_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.cwd = "/work/project/..foo"; }))
                .policy.working_directory,
            "/work/project/..foo");
}

TEST(AdapterPolicyTest, TheRootAndTheHomeAreNoWorkspace) {
  EXPECT_THAT(error_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.workspace_dir = "/"; })),
              HasSubstr("the root directory cannot be the workspace"));
  EXPECT_THAT(error_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.workspace_dir = "/home"; })),
              HasSubstr("home directory lies in it"));
  EXPECT_THAT(error_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.workspace_dir = "/home/me"; })),
              HasSubstr("hands over everything"));
}

TEST(AdapterPolicyTest, T8WritableExtraPathsNeedARestorePath) {
  const auto out = resolved({.json = kRwOutside});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message(), kUnmapped);
  for (const char* way : {"outboundRestorePaths", "/var/cache", "under workspaceDir", "\"ro\""})
    EXPECT_THAT(out.error().hint(), HasSubstr(way));
}

TEST(AdapterPolicyTest, ARestorePathCoversWhatIsBelowIt) {
  const auto restored = [](const char* path) {
    return with(kRwOutside, [&](BuilderOptions& o) { o.outbound_restore_paths = {path}; });
  };
  EXPECT_EQ(error_of(restored("/var/cache/pnpm")), "no error");
  EXPECT_EQ(error_of(restored("/var/cache/")), "no error");
  EXPECT_EQ(error_of(restored("/var/cache/pnp")), kUnmapped);
  EXPECT_EQ(error_of(restored("/var/cache/pnpm/store")), kUnmapped);
  EXPECT_EQ(error_of(restored("var/cache")), "Sandbox outboundRestorePaths[0] must be an absolute path.");
  EXPECT_THAT(policy_of(restored("/var/cache/")).policy.restore_paths, ElementsAre("/var/cache"));
}

// A program that fills the structure itself passes by the parser's own check.
TEST(AdapterPolicyTest, ARelativeWritableExtraPathIsRefused) {
  AdapterConfig config;
  config.workspace_scope = true;
  config.extra_paths = {{.path = "/work/project/a", .access = Access::kReadWrite, .origin = ""},
                        {.path = "cache", .access = Access::kReadWrite, .origin = ""}};
  const auto built = build_adapter_policy(
      config, Input().options,
      {.current_directory = "/work/project", .home = "/home/me", .is_root = false, .environment = {}});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message(), "Sandbox extraPaths[1].path must be an absolute path.");
}

TEST(AdapterPolicyTest, OtherExtraPathsNeedNone) {
  EXPECT_EQ(error_of({.json = R"({"filesystemScope":"workspace","filesystemExtraPaths":["/opt/toolchains"]})"}),
            "no error");
  EXPECT_EQ(
      error_of(
          {.json =
               R"({"filesystemScope":"workspace","filesystemExtraPaths":[{"path":"/work/project/out","access":"rw"}]})"}),
      "no error");
  EXPECT_EQ(error_of({.json = R"({"networkScope":"deny","filesystemExtraPaths":[{"path":"/var/x","access":"rw"}]})"}),
            "no error");
  EXPECT_EQ(error_of(with(kWorkspaceScope,
                          [](BuilderOptions& o) { o.managed_paths = {{"/var/managed", Access::kReadWrite}}; })),
            "no error");
}

TEST(AdapterPolicyTest, ConflictingDuplicatesAreErrors) {
  EXPECT_EQ(
      error_of(
          {.json =
               R"({"filesystemScope":"workspace","filesystemExtraPaths":["/work/project/x",{"path":"/work/project/x","access":"rw"}]})"}),
      "\"/work/project/x\" is granted read-only and writable (filesystemExtraPaths[0], filesystemExtraPaths[1])");
  EXPECT_THAT(error_of({.json = R"({"filesystemScope":"workspace","filesystemExtraPaths":["/"]})"}),
              HasSubstr("root directory cannot be granted"));
}

TEST(AdapterPolicyTest, T6ManagedPathsAreGranted) {
  const auto input = with(kWorkspaceScope, [](BuilderOptions& o) {
    o.managed_paths = {{"/srv/agent-home/", Access::kReadWrite}, {"/srv/prompt", Access::kReadOnly}};
  });
  EXPECT_THAT(
      policy_of(input).policy.grants,
      ElementsAre(
          PathGrant{
              .path = "/srv/agent-home", .access = Access::kReadWrite, .origin = "managedPaths[0]", .optional = true},
          PathGrant{.path = "/srv/prompt", .origin = "managedPaths[1]", .optional = true}));
  EXPECT_EQ(error_of(with(kWorkspaceScope, [](BuilderOptions& o) { o.managed_paths = {{"rel", Access::kReadOnly}}; })),
            "Sandbox path must be an absolute path.");
}

TEST(AdapterPolicyTest, T7Aliases) {
  const auto alias = [](const char* path, const char* target) {
    return with(kWorkspaceScope, [&](BuilderOptions& o) { o.path_aliases = {{path, target}}; });
  };
  EXPECT_THAT(policy_of(alias("/app", "/work/project")).policy.aliases,
              ElementsAre(PathAlias{"/app", "/work/project"}));
  EXPECT_EQ(error_of(alias("app", "/work/project")), "Sandbox pathAliases[0].path must be an absolute path.");
  EXPECT_EQ(error_of(alias("/app", "x")), "Sandbox pathAliases[0].target must be an absolute path.");
  EXPECT_EQ(error_of(alias("/app/", "/etc")),
            "Sandbox path alias \"/app\" must target the synchronized workspace \"/work/project\".");
  EXPECT_EQ(error_of(alias("/work", "/work/project")), "Sandbox path alias \"/work\" would cover the workspace.");
}

TEST(AdapterPolicyTest, ChecksComeInTheBuildersOrder) {
  Input input{
      .json =
          R"({"filesystemScope":"workspace","networkScope":"allowlist","filesystemExtraPaths":[{"path":"/var/x","access":"rw"}]})"};
  input.options = {.workspace_dir = "w",
                   .cwd = "c",
                   .managed_paths = {{"m", Access::kReadOnly}},
                   .path_aliases = {{"a", "t"}},
                   .outbound_restore_paths = {"r"},
                   .home_dir = {},
                   .network_trusted_urls = {}};
  EXPECT_EQ(error_of(input), "Sandbox workspaceDir must be an absolute path.");
  input.options.workspace_dir = "/w";
  EXPECT_EQ(error_of(input), "Sandbox cwd must be an absolute path.");
  input.options.cwd = "/c";
  EXPECT_EQ(error_of(input), "Sandbox cwd \"/c\" must be inside workspaceDir \"/w\".");
  input.options.cwd = "/w";
  EXPECT_EQ(error_of(input), "Sandbox outboundRestorePaths[0] must be an absolute path.");
  input.options.outbound_restore_paths = {"/r"};
  EXPECT_THAT(error_of(input), HasSubstr("no outbound restore mapping"));
  input.options.outbound_restore_paths = {"/var"};
  EXPECT_EQ(error_of(input), "Sandbox path must be an absolute path.");
  input.options.managed_paths = {};
  EXPECT_EQ(error_of(input), "Sandbox pathAliases[0].path must be an absolute path.");
  input.options.path_aliases = {};
  EXPECT_THAT(error_of(input), HasSubstr("networkScope=\"allowlist\" requires at least one valid"));
}

// --------------------------------------------------------------------------------------------------------- network

TEST(AdapterPolicyTest, T5AnAllowlistNeedsOneValidRule) {
  const auto trusted = [](const char* url) {
    return with(R"({"networkScope":"allowlist"})", [&](BuilderOptions& o) { o.network_trusted_urls = {url}; });
  };
  EXPECT_EQ(
      error_of(trusted("file:///etc")),
      "networkScope=\"allowlist\" requires at least one valid networkAllowlist hostname or HTTP(S) networkTrustedUrl.");
  EXPECT_EQ(
      error_of({.json = R"({"networkScope":"allowlist","networkAllowlist":[]})"}),
      "networkScope=\"allowlist\" requires at least one valid networkAllowlist hostname or HTTP(S) networkTrustedUrl.");
}

TEST(AdapterPolicyTest, T11TrustedUrlsJoinTheAllowlist) {
  const auto input =
      with(R"({"networkScope":"allowlist","networkAllowlist":["api.example.com"]})",
           [](BuilderOptions& o) { o.network_trusted_urls = {"http://127.0.0.1:3100/api", "not a url"}; });
  const Policy policy = policy_of(input).policy;
  ASSERT_EQ(policy.allow.size(), 2U);
  EXPECT_EQ(policy.allow[0].text, "api.example.com");
  EXPECT_TRUE(policy.allow[1].trusted);
  EXPECT_EQ(policy.allow[1].port, 3100);
}

TEST(AdapterPolicyTest, ListsThatHaveNoEffectAreSaid) {
  const auto out = policy_of(
      {.json =
           R"({"networkScope":"deny","engine":"cli","networkAllowlist":["a.com"],"filesystemExtraPaths":["/x"],"homeDir":"/y"})"});
  EXPECT_THAT(out.notes,
              ElementsAre(HasSubstr("networkAllowlist has no effect"), HasSubstr("filesystemExtraPaths has no effect"),
                          HasSubstr("homeDir is not read")));
}

// ---------------------------------------------------------------------------------------------------------- engine

struct EngineCase {
  AdapterEngine engine;
  bool scoped;
  bool strict;
  const char* notice;   // part of it; empty: none
  const char* refusal;  // whole; empty: none
};

class EngineTest : public testing::TestWithParam<EngineCase> {};
TEST_P(EngineTest, T17LaneOfAScopedRun) {
  const EngineCase& tested = GetParam();
  const auto choice = choose_engine(tested.engine, tested.scoped, "Claude", tested.strict);
  if (*tested.refusal != '\0') {
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().message(), tested.refusal);
    return;
  }
  ASSERT_TRUE(choice) << choice.error().to_string();
  if (*tested.notice == '\0') EXPECT_EQ(choice->notice, "");
  EXPECT_THAT(choice->notice, HasSubstr(tested.notice));
}
constexpr const char* kRefusal =
    "Local filesystem/network confinement requires the Claude CLI engine; ACP confinement is not supported.";
constexpr const char* kStrictRefusal =
    "Local filesystem/network confinement requires the Claude CLI engine; ACP confinement is not supported. Repair the "
    "ACP setup, or explicitly set "
    "engine=cli to use the CLI engine.";
constexpr const char* kNotice = "Local filesystem/network scope requires spawn-level confinement in the CLI lane.";
INSTANTIATE_TEST_SUITE_P(Paperclip, EngineTest,
                         testing::Values(EngineCase{AdapterEngine::kAuto, true, false, kNotice, ""},
                                         EngineCase{AdapterEngine::kCli, true, false, "", ""},
                                         EngineCase{AdapterEngine::kAcp, true, false, "", kRefusal},
                                         EngineCase{AdapterEngine::kAuto, true, true, "", kStrictRefusal},
                                         EngineCase{AdapterEngine::kCli, true, true, "", ""},
                                         EngineCase{AdapterEngine::kAcp, true, true, "", kStrictRefusal},
                                         EngineCase{AdapterEngine::kAuto, false, false, "", ""},
                                         EngineCase{AdapterEngine::kAcp, false, true, "", ""}));

TEST(AdapterPolicyTest, TheRefusalNamesTheAdapter) {
  EXPECT_EQ(error_of({.json = R"({"adapterType":"codex_local","networkScope":"deny","engine":"acp"})"}),
            "Local filesystem/network confinement requires the Codex CLI engine; ACP confinement is not supported.");
  Input claude{.json = R"({"networkScope":"deny","engine":"acp"})"};
  claude.run.adapter_type = "claude_local";
  EXPECT_EQ(error_of(claude), kRefusal);
}

TEST(AdapterPolicyTest, TheNoticeIsTheFirstNote) {
  const auto out = policy_of({.json = R"({"adapterType":"claude_local","networkScope":"deny"})"});
  EXPECT_THAT(
      out.notes,
      ElementsAre(
          "[paperclip] Claude ACP default unavailable; falling back to Claude CLI. Local filesystem/network scope "
          "requires spawn-level "
          "confinement in the CLI lane. Set engine=acp to require ACP or engine=cli to silence this fallback."));
}

// ---------------------------------------------------------------------------------------------------------- wiring

// T19: the line is what callers skip when they choose an error line.
TEST(AdapterPolicyTest, T19OneLineNamesWhatIsConfined) {
  const auto line = [](const std::string& json) { return policy_of({.json = json}).policy.announcement; };
  EXPECT_EQ(
      line(
          R"({"adapterType":"claude_local","filesystemScope":"workspace","networkScope":"allowlist","networkAllowlist":["api.anthropic.com"]})"),
      "[paperclip] Confining Claude with workspace filesystem and allowlist network scope.");
  EXPECT_EQ(line(R"({"adapterType":"codex_local","filesystemScope":"workspace"})"),
            "[paperclip] Confining Codex with workspace filesystem scope.");
  EXPECT_EQ(line(R"({"adapterType":"codex_local","networkScope":"deny"})"),
            "[paperclip] Confining Codex with deny network scope.");
}

std::vector<std::string> home_paths(const Policy& policy) {
  std::vector<std::string> out;
  for (const PathGrant& grant : policy.home_paths)
    out.push_back((grant.access == Access::kReadWrite ? "rw " : "ro ") + grant.path);
  return out;
}

TEST(AdapterPolicyTest, ClaudeGetsItsConfigurationDirectory) {
  const Policy policy = policy_of({.json = R"({"adapterType":"claude_local","filesystemScope":"workspace"})"}).policy;
  EXPECT_EQ(policy.home, "/home/me");
  EXPECT_THAT(home_paths(policy), Contains("rw /home/me/.claude"));
  EXPECT_THAT(home_paths(policy), Contains("ro /home/me/.claude/settings.json"));
  EXPECT_EQ(policy.home_files.at(0).name, ".claude.json");
  EXPECT_THAT(policy.variables.set, Contains(EnvironmentVariable{"CLAUDE_CONFIG_DIR", "/home/me/.claude"}));
  EXPECT_THAT(policy.variables.pass, Contains("ANTHROPIC_API_KEY"));
  // No provider host is ever added.
  EXPECT_THAT(policy.allow, IsEmpty());
}

TEST(AdapterPolicyTest, ClaudesHomeIsTheParentOfAMovedDirectory) {
  const Policy policy = policy_of({.json = R"({"adapterType":"claude_local","filesystemScope":"workspace"})",
                                   .environment = {{"CLAUDE_CONFIG_DIR", "/srv/agents/7/.claude/"}}})
                            .policy;
  EXPECT_EQ(policy.home, "/srv/agents/7");
  EXPECT_THAT(home_paths(policy), Contains("rw /srv/agents/7/.claude"));
  EXPECT_THAT(home_paths(policy), Not(Contains("rw /home/me/.claude")));
}

TEST(AdapterPolicyTest, CodexHomeIsTheHome) {
  const Policy policy = policy_of({.json = R"({"adapterType":"codex_local","filesystemScope":"workspace"})",
                                   .environment = {{"CODEX_HOME", "/srv/company/codex-home"}}})
                            .policy;
  EXPECT_EQ(policy.home, "/srv/company/codex-home");
  EXPECT_THAT(home_paths(policy), Contains("rw /srv/company/codex-home"));
  EXPECT_THAT(home_paths(policy), Contains("ro /srv/company/codex-home/config.toml"));
  EXPECT_THAT(policy.variables.set, Contains(EnvironmentVariable{"CODEX_HOME", "/srv/company/codex-home"}));
  EXPECT_TRUE(policy.nested_sandboxes);
  EXPECT_EQ(policy_of({.json = R"({"adapterType":"codex_local","filesystemScope":"workspace"})"}).policy.home,
            "/home/me/.codex");
}

TEST(AdapterPolicyTest, NetworkScopeAloneLeavesTheHomeAlone) {
  const Policy policy = policy_of({.json = R"({"adapterType":"codex_local","networkScope":"deny"})",
                                   .environment = {{"CODEX_HOME", "/srv/c"}}})
                            .policy;
  EXPECT_EQ(policy.home, "/home/me");
  EXPECT_THAT(policy.home_paths, IsEmpty());
}

TEST(AdapterPolicyTest, AGivenHomeWins) {
  auto input = with(R"({"adapterType":"claude_local","filesystemScope":"workspace"})",
                    [](BuilderOptions& o) { o.home_dir = "/srv/h"; });
  EXPECT_EQ(policy_of(input).policy.home, "/srv/h");
  EXPECT_THAT(home_paths(policy_of(input).policy), Contains("rw /srv/h/.claude"));
  input.options.home_dir = "h";
  EXPECT_EQ(error_of(input), "Sandbox homeDir must be an absolute path.");
}

TEST(AdapterPolicyTest, AnUnknownAdapterIsConfinedWithoutWiring) {
  const Policy policy = policy_of({.json = R"({"adapterType":"process","networkScope":"deny"})"}).policy;
  EXPECT_EQ(policy.announcement, "[paperclip] Confining the agent with deny network scope.");
  EXPECT_THAT(policy.profiles, IsEmpty());
}

}  // namespace
}  // namespace cofferdam::domain
