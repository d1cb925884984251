#include "cli/cli.h"
#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cli/verb.h"
#include "fake_program.h"

namespace cofferdam::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Runs in an empty directory of its own with a home beside it.
class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    fake() = FakeControl();
    char name[] = "/tmp/cofferdam-cli-test-XXXXXX";
    root_ = ::mkdtemp(name);
    workspace_ = root_ + "/work";
    ASSERT_EQ(::system(("mkdir " + workspace_).c_str()), 0);
    ASSERT_EQ(::chdir(workspace_.c_str()), 0);
    ::setenv("HOME", (root_ + "/home").c_str(), 1);
    for (const char* name_of : {"PAPERCLIP_API_URL", "PAPERCLIP_RUNTIME_API_URL", "CLAUDE_CONFIG_DIR", "CODEX_HOME"})
      ::unsetenv(name_of);
  }
  void TearDown() override {
    ASSERT_EQ(::chdir("/"), 0);
    ASSERT_EQ(::system(("rm -r " + root_).c_str()), 0);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(workspace_ + "/" + name) << text; }

  std::string root_;
  std::string workspace_;
};

// ------------------------------------------------------------------------------------------------------ usage errors

struct UsageError {
  const char* name;
  std::vector<std::string> arguments;
  const char* text;
};

class UsageErrorTest : public CliTest, public testing::WithParamInterface<UsageError> {};

TEST_P(UsageErrorTest, IsExitCode2WithAMessageAndNothingRuns) {
  const Ended ended = run_cofferdam(GetParam().arguments);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, GetParam().text);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(fake().runs, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, UsageErrorTest,
    testing::Values(
        UsageError{"UnknownVerb", {"rum"}, "cofferdam: there is no verb \"rum\"\n  hint: Did you mean \"run\"?\n"},
        UsageError{"UnknownTopLevelOption",
                   {"--foo"},
                   "cofferdam: unknown option \"--foo\"\n  hint: \"cofferdam --help\" lists the verbs; to run a "
                   "command: cofferdam run -- COMMAND\n"},
        UsageError{"NoCommand",
                   {"run"},
                   "cofferdam: no command given\n  hint: Write it after \"--\": cofferdam run [FLAGS] -- COMMAND "
                   "[ARGUMENTS…]\n"},
        UsageError{"NothingAfterDashes",
                   {"run", "--"},
                   "cofferdam: no command after \"--\"\n  hint: Write it after \"--\": cofferdam run [FLAGS] -- "
                   "COMMAND [ARGUMENTS…]\n"},
        UsageError{"DashesForgotten",
                   {"run", "make", "-j2"},
                   "cofferdam: \"make\" stands before \"--\"\n  hint: Write \"--\" before the command: cofferdam run "
                   "[FLAGS] -- make …\n"},
        UsageError{"UnknownOption",
                   {"run", "--memry", "1G", "--", "x"},
                   "cofferdam: unknown option --memry\n  hint: Did you mean --memory?\n"},
        UsageError{"UnknownOptionKeepsValueOut",
                   {"run", "--tokn=s3cret", "--", "x"},
                   "cofferdam: unknown option --tokn\n  hint: \"cofferdam run --help\" explains it.\n"},
        UsageError{"UnknownShortOption",
                   {"run", "-x", "--", "x"},
                   "cofferdam: unknown option -x\n  hint: \"cofferdam run --help\" explains it.\n"},
        UsageError{"MissingValue",
                   {"run", "--ro", "--", "x"},
                   "cofferdam: --ro needs a value: --ro PATH\n  hint: \"cofferdam run --help\" explains it.\n"},
        UsageError{"ValueForSwitch",
                   {"run", "--quiet=1", "--", "x"},
                   "cofferdam: --quiet takes no value\n  hint: \"cofferdam run --help\" explains it.\n"},
        UsageError{"ValueForPolicySwitch",
                   {"run", "--allow-home=x", "--", "x"},
                   "cofferdam: --allow-home takes no value\n  hint: \"cofferdam run --help\" explains it.\n"},
        UsageError{"BadWord",
                   {"explain", "-o", "yaml", "--", "x"},
                   "cofferdam: --output: \"yaml\" is not one of text|json\n  hint: \"cofferdam explain --help\" "
                   "explains it.\n"},
        UsageError{"ExtraArgument",
                   {"version", "now"},
                   "cofferdam: unexpected argument \"now\"\n  hint: \"cofferdam version --help\" explains it.\n"},
        UsageError{"TwoRuns",
                   {"audit", "a", "b"},
                   "cofferdam: unexpected argument \"b\"\n  hint: \"cofferdam audit --help\" explains it.\n"},
        UsageError{"DashesWhereNone",
                   {"doctor", "--", "x"},
                   "cofferdam: \"--\" is not expected here\n  hint: \"cofferdam doctor --help\" explains it.\n"},
        UsageError{"NoShell",
                   {"completion"},
                   "cofferdam: missing argument SHELL\n  hint: \"cofferdam completion --help\" explains it.\n"},
        UsageError{
            "UnknownShell",
            {"completion", "tcsh"},
            "cofferdam: \"tcsh\" is not one of bash|zsh|fish\n  hint: \"cofferdam completion --help\" explains it.\n"},
        UsageError{"HelpOfNothing",
                   {"help", "nothing"},
                   "cofferdam: there is no verb \"nothing\"\n  hint: \"cofferdam help\" lists them.\n"},
        UsageError{"ManOfNothing",
                   {"man", "nothing"},
                   "cofferdam: there is no verb \"nothing\"\n  hint: \"cofferdam help\" lists them.\n"},
        UsageError{"Conflict",
                   {"run", "--network", "deny", "--allow", "x.com", "--", "x"},
                   "cofferdam: --allow x.com contradicts --network deny\n  hint: An allow rule means the network scope "
                   "\"allowlist\": leave one of the two out.\n"},
        UsageError{"TwoProblemsAtOnce",
                   {"run", "--memory", "3Q", "--pids", "0", "--", "x"},
                   "cofferdam: --memory: \"3Q\" is not a size; write for example 512M or 2GiB\ncofferdam: --pids: "
                   "\"0\" is not a whole number above zero\n"},
        UsageError{"ControlCharactersAreShownHarmless",
                   {"run", "--network", "\x1b[31mx", "--", "x"},
                   "cofferdam: --network: \"\\x1b[31mx\" is not one of deny, allowlist, open\n"},
        UsageError{"NoSuchPolicy",
                   {"run", "--policy", "none.yaml", "--", "x"},
                   "cofferdam: --policy: none.yaml: No such file or directory\n"},
        UsageError{"NoSuchAdapterConfig",
                   {"run", "--adapter-config", "none.json", "--", "x"},
                   "cofferdam: --adapter-config: none.json: No such file or directory\n"},
        UsageError{
            "PolicyIsADirectory", {"run", "--policy", ".", "--", "x"}, "cofferdam: --policy: .: Is a directory\n"},
        UsageError{
            "PolicyIsADevice",
            {"run", "--policy", "/dev/zero", "--", "x"},
            "cofferdam: --policy: /dev/zero: not a regular file\n  hint: Name a file, or give the text through a "
            "pipe: <(command), or /dev/stdin after \"|\".\n"},
        UsageError{"TooFewOpenFiles",
                   {"run", "--open-files", "1", "--memory", "1M", "--", "x"},
                   "cofferdam: --memory: nothing starts with less than 16M\ncofferdam: --open-files: nothing starts "
                   "with less than 4\n"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(CliTest, NothingGivenShowsHelpAsAnError) {
  const Ended ended = run_cofferdam({});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, StartsWith("Usage: cofferdam VERB"));
}

// --------------------------------------------------------------------------------------------------------------- run

TEST_F(CliTest, RunHandsOverCommandPolicyAndOutcomeFile) {
  const Ended ended = run_cofferdam({"run", "--outcome", "o.json", "--ro=/opt/x", "--allow", "a.example.com", "--env",
                                     "A=b=c", "--", "make", "--", "-j2", "--help"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  ASSERT_EQ(fake().runs.size(), 1U);
  const control::LocalRunRequest& request = fake().runs[0];
  EXPECT_THAT(request.command, ElementsAre("make", "--", "-j2", "--help"));
  EXPECT_EQ(request.outcome_file, "o.json");
  EXPECT_EQ(request.policy.workspace, workspace_);
  EXPECT_EQ(request.policy.home, root_ + "/home");
  EXPECT_EQ(request.policy.network, domain::NetworkScope::kAllowlist);
  EXPECT_EQ(request.policy.grants.at(0).path, "/opt/x");
  EXPECT_THAT(request.policy.variables.set, ElementsAre(domain::EnvironmentVariable{"A", "b=c"}));
}

TEST_F(CliTest, AnEmptyArgumentIsACommandWord) {
  run_cofferdam({"run", "--", "printf", ""});
  EXPECT_THAT(fake().runs.at(0).command, ElementsAre("printf", ""));
}

TEST_F(CliTest, TheExitCodeIsTheOutcomes) {
  using Kind = domain::Outcome::Kind;
  using Start = domain::Outcome::StartError;
  const std::vector<std::pair<domain::Outcome, int>> cases = {
      {{.kind = Kind::kExited, .value = 7}, 7},
      {{.kind = Kind::kSignalled, .value = 15}, 143},
      {{.kind = Kind::kTimedOut}, 124},
      {{.kind = Kind::kOutOfMemory}, 137},
      {{.kind = Kind::kStartFailed, .start_error = Start::kSetup}, 125},
      {{.kind = Kind::kStartFailed, .start_error = Start::kNotExecutable}, 126},
      {{.kind = Kind::kStartFailed, .start_error = Start::kNotFound}, 127},
  };
  for (const auto& [outcome, code] : cases) {
    fake().outcome = outcome;
    EXPECT_EQ(run_cofferdam({"run", "--", "x"}).code, code);
  }
}

TEST_F(CliTest, QuietSilencesNotesAndKeepsErrors) {
  fake().outcome = {.kind = domain::Outcome::Kind::kStartFailed, .message = "went wrong"};
  const Ended loud = run_cofferdam({"run", "--network", "open", "--", "x"});
  EXPECT_EQ(loud.err,
            "cofferdam: the network is open: nothing is filtered or recorded (network open)\ncofferdam: went wrong\n  "
            "hint: Do this.\n");
  const Ended quiet = run_cofferdam({"run", "-q", "--network", "open", "--", "x"});
  EXPECT_EQ(quiet.err, "cofferdam: went wrong\n  hint: Do this.\n");
}

TEST_F(CliTest, PolicyFileAndFlags) {
  write("policy.yaml", "ro: [tools]\nlimits: {memory: 2G, pids: 9}\nnetwork: open\n");
  const Ended ended =
      run_cofferdam({"run", "--policy", "policy.yaml", "--memory", "1G", "--network", "deny", "--", "x"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const domain::Policy& policy = fake().runs.at(0).policy;
  EXPECT_EQ(policy.grants.at(0).path, workspace_ + "/tools");
  EXPECT_EQ(policy.limits.memory_bytes, 1U << 30);
  EXPECT_EQ(policy.limits.pids, 9U);
  EXPECT_EQ(policy.network, domain::NetworkScope::kDeny);
}

TEST_F(CliTest, PathsOfAPolicyFileAreRelativeToItsFolder) {
  ASSERT_EQ(::system("mkdir conf"), 0);
  write("conf/policy.yaml", "ro: [../tools]\n");
  run_cofferdam({"run", "--policy", "conf/policy.yaml", "--", "x"});
  EXPECT_EQ(fake().runs.at(0).policy.grants.at(0).path, workspace_ + "/tools");
  run_cofferdam({"run", "--policy", workspace_ + "/conf/policy.yaml", "--", "x"});
  EXPECT_EQ(fake().runs.at(1).policy.grants.at(0).path, workspace_ + "/tools");
}

TEST_F(CliTest, EveryProblemOfAPolicyFileIsALine) {
  write("policy.yaml", "netwrk: deny\nlimits: {pids: 0}\n");
  const Ended ended = run_cofferdam({"run", "--policy", "policy.yaml", "--", "x"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "cofferdam: policy.yaml:1: unknown key \"netwrk\"\n  hint: did you mean \"network\"?\n"
            "cofferdam: policy.yaml:2: limits.pids: \"0\" is not a whole number above zero\n");
}

TEST_F(CliTest, EveryFlagOfTheTableIsTakenByRunAndExplain) {
  const auto example = [](const domain::SettingSpec& spec) -> std::string {
    if (spec.completion == Completion::kWords) return std::string(spec.value_name.substr(0, spec.value_name.find('|')));
    if (spec.name == "alias") return "/app=.";
    if (spec.name == "profile") return "pi_local";
    if (spec.name == "allow" || spec.name == "deny") return "x.example.com";
    if (spec.name == "env") return "NAME";
    if (spec.name == "cwd" || spec.name == "workspace") return ".";
    if (spec.name == "protect") return "sub";
    if (spec.name == "restore") return ".";
    if (spec.value_name == "SIZE") return "64M";
    if (spec.value_name == "DURATION") return "10m";
    return spec.value_name == "N" ? "64" : "/opt/x";
  };
  for (const char* verb : {"run", "explain"}) {
    for (const domain::SettingSpec& spec : domain::setting_specs()) {
      if (!spec.is_flag) continue;
      std::vector<std::string> arguments = {verb, "--" + std::string(spec.name)};
      if (!spec.value_name.empty()) arguments.push_back(example(spec));
      if (spec.name == "deny") arguments.insert(arguments.end(), {"--allow", "y.example.com"});
      arguments.insert(arguments.end(), {"--", "x"});
      const Ended ended = run_cofferdam(arguments);
      EXPECT_EQ(ended.code, 0) << spec.name << ": " << ended.err;
    }
  }
}

// ---------------------------------------------------------------------------------------------------- adapter-config

constexpr const char* kBothScopes =
    R"({"filesystemScope":"workspace","networkScope":"allowlist","engine":"cli","networkAllowlist":["api.anthropic.com"]})";

TEST_F(CliTest, AdapterConfigWithItsFlags) {
  write("a.json", kBothScopes);
  const Ended ended = run_cofferdam({"run", "--adapter-config", "a.json", "--profile", "claude_local", "--timeout",
                                     "1m", "--protect", "x", "--ro", "/opt/prompt", "--env", "K=v", "--nested", "on",
                                     "--alias", "/app=sub", "--", "claude"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "[paperclip] Confining Claude with workspace filesystem and allowlist network scope.\n");
  const domain::Policy& policy = fake().runs.at(0).policy;
  EXPECT_EQ(policy.limits.wall_clock, std::chrono::minutes(1));
  EXPECT_THAT(policy.protect, ElementsAre(workspace_ + "/x"));
  EXPECT_EQ(policy.grants.at(0).origin, "managedPaths[0]");
  EXPECT_THAT(policy.aliases, ElementsAre(domain::PathAlias{"/app", workspace_ + "/sub"}));
  EXPECT_THAT(policy.variables.set, testing::Contains(domain::EnvironmentVariable{"K", "v"}));
  EXPECT_TRUE(policy.nested_sandboxes);
  ASSERT_EQ(policy.allow.size(), 1U);
}

TEST_F(CliTest, T18TheApiUrlIsTheTrustedUrl) {
  write("a.json", kBothScopes);
  ::setenv("PAPERCLIP_RUNTIME_API_URL", "http://localhost:3200", 1);
  ::setenv("PAPERCLIP_API_URL", "http://localhost:3100", 1);
  run_cofferdam({"run", "--adapter-config", "a.json", "--profile", "claude_local", "--", "claude"});
  const auto& allow = fake().runs.at(0).policy.allow;
  ASSERT_EQ(allow.size(), 2U);
  EXPECT_EQ(allow[1].text, "http://localhost:3100");
  EXPECT_EQ(allow[1].port, 3100);
  EXPECT_TRUE(allow[1].trusted);
}

TEST_F(CliTest, AnOperatorCanStateRestorePaths) {
  write(
      "a.json",
      R"({"filesystemScope":"workspace","engine":"cli","filesystemExtraPaths":[{"path":"/var/cache/pnpm","access":"rw"}]})");
  const Ended refused = run_cofferdam({"run", "--adapter-config", "a.json", "--", "x"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("has no outbound restore mapping.\n  hint: "), HasSubstr("--restore /var/cache")));
  EXPECT_EQ(run_cofferdam({"run", "--adapter-config", "a.json", "--restore", "/var/cache", "--", "x"}).code, 0);
  write("p.yaml", "restore: [/var/cache]\n");
  EXPECT_EQ(run_cofferdam({"run", "--adapter-config", "a.json", "--policy", "p.yaml", "--", "x"}).code, 0);
}

TEST_F(CliTest, FlagsThatTheAdapterConfigDecidesAreRefused) {
  write("a.json", kBothScopes);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--filesystem", "host"}, "filesystemScope"},
      {{"--network", "open"}, "networkScope"},
      {{"--allow", "x.com"}, "networkScope"},
      {{"--rw", "/x"}, "filesystemExtraPaths"}};
  for (const auto& [flags, key] : cases) {
    std::vector<std::string> arguments = {"run", "--adapter-config", "a.json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "x"});
    const Ended ended = run_cofferdam(arguments);
    EXPECT_EQ(ended.code, 2) << flags[0];
    EXPECT_EQ(ended.err, "cofferdam: " + flags[0] + " cannot stand beside --adapter-config\n  hint: Set " + key +
                             " in the adapter configuration.\n");
  }
}

// ------------------------------------------------------------------------------------------------------ other verbs

TEST_F(CliTest, Version) {
  EXPECT_EQ(run_cofferdam({"version"}).out, "cofferdam 1.2.3\n");
  EXPECT_EQ(run_cofferdam({"--version"}).out, "cofferdam 1.2.3\n");
  EXPECT_EQ(run_cofferdam({"version", "-o", "json"}).out,
            "{\n  \"name\": \"cofferdam\",\n  \"version\": \"1.2.3\"\n}\n");
}

TEST_F(CliTest, ExplainPrintsThePlanAndStartsNothing) {
  const Ended text = run_cofferdam({"explain", "--", "x"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, "the plan\n");
  run_cofferdam({"explain", "-o", "json", "--", "x"});
  EXPECT_THAT(fake().formats, ElementsAre(control::ExplainFormat::kText, control::ExplainFormat::kJson));
  EXPECT_THAT(fake().runs, IsEmpty());
  fake().plan = Error(ErrorCode::kUnsupported, "no plan");
  EXPECT_EQ(run_cofferdam({"explain", "--", "x"}).code, 125);
}

TEST_F(CliTest, DoctorSucceedsOnlyWhenNothingFailed) {
  using State = control::Finding::State;
  fake().findings = {{"userns", "User namespaces", State::kOk, "available", ""},
                     {"cgroup", "Cgroups", State::kDegraded, "v1", ""}};
  const Ended fine = run_cofferdam({"doctor"});
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.out,
            "ok        User namespaces  available\ndegraded  Cgroups          v1\n\nThis machine can confine.\n");
  fake().findings.push_back({"bwrap", "Bubblewrap", State::kFailed, "not\x1b[0m found", "apt-get install bubblewrap"});
  const Ended broken = run_cofferdam({"doctor"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(
      broken.out,
      HasSubstr("FAILED    Bubblewrap       not\\x1b[0m found\n          mend it: apt-get install bubblewrap\n"));
  EXPECT_THAT(broken.out, HasSubstr("cannot confine yet"));
  EXPECT_THAT(run_cofferdam({"doctor"}, true).out, HasSubstr("\x1b[31mFAILED"));
}

TEST_F(CliTest, DoctorAsJson) {
  fake().findings = {{"bwrap", "Bubblewrap", control::Finding::State::kFailed, "not \"found\"", "mend"}};
  const Ended ended = run_cofferdam({"doctor", "-o", "json"}, true);
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out,
            "{\n  \"canConfine\": false,\n  \"findings\": [\n    {\n      \"id\": \"bwrap\",\n      \"title\": "
            "\"Bubblewrap\",\n"
            "      \"state\": \"failed\",\n      \"detail\": \"not \\\"found\\\"\",\n      \"remedy\": \"mend\"\n    "
            "}\n  ]\n}\n");
}

TEST_F(CliTest, AuditListsDecisions) {
  fake().decisions = std::vector<std::string>{
      R"({"time":"T1","run":"r1","host":"evil.example.com","port":443,"method":"CONNECT","verdict":"deny","rule":null,"reason":"no_rule"})",
      R"({"host":"a.com","port":443,"verdict":"allow","failure":"nxdomain"})", "not json \x1b"};
  const Ended ended = run_cofferdam({"audit", "--denied", "r1"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("evil.example.com:443"));
  EXPECT_THAT(ended.out, HasSubstr("REASON"));
  EXPECT_THAT(ended.out, HasSubstr("no_rule"));
  EXPECT_THAT(ended.out, HasSubstr("nxdomain"));
  EXPECT_THAT(ended.out, HasSubstr("not json \\x1b"));
  EXPECT_EQ(fake().queries.at(0).run, "r1");
  EXPECT_TRUE(fake().queries.at(0).only_denied);
  EXPECT_EQ(run_cofferdam({"audit", "-o", "json"}).out,
            (*fake().decisions)[0] + "\n" + (*fake().decisions)[1] + "\n" + (*fake().decisions)[2] + "\n");
  fake().decisions = std::vector<std::string>();
  EXPECT_EQ(run_cofferdam({"audit", "--denied"}).err, "cofferdam: nothing was refused\n");
  EXPECT_EQ(run_cofferdam({"audit", "-o", "json"}).out, "");
  fake().decisions = Error(ErrorCode::kNotFound, "no run r1");
  EXPECT_EQ(run_cofferdam({"audit", "r1"}).code, 1);
}

TEST_F(CliTest, AuditTakesATimeAndACount) {
  fake().decisions = std::vector<std::string>();
  EXPECT_EQ(run_cofferdam({"audit", "--since", "2026-12-03T14:00", "--last", "7"}).err,
            "cofferdam: nothing since then\n");
  EXPECT_EQ(fake().queries.at(0).since, domain::parse_moment("2026-12-03T14:00:00.000Z"));
  EXPECT_EQ(fake().queries.at(0).last, 7U);
  EXPECT_EQ(run_cofferdam({"audit", "--since", "1h"}).code, 0);
  EXPECT_LT(*fake().queries.at(1).since, std::chrono::system_clock::now() - std::chrono::minutes(59));
  EXPECT_GT(*fake().queries.at(1).since, std::chrono::system_clock::now() - std::chrono::minutes(61));
  for (const auto& words : {std::vector<std::string>{"audit", "--since", "soon"}, {"audit", "--last", "0"}}) {
    const Ended ended = run_cofferdam(words);
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr(words[1] + ": \"" + words[2] + "\" is n"));
  }
}

TEST_F(CliTest, ProgramPageHasEverySectionThatPeopleLookFor) {
  const std::string page = run_cofferdam({"man"}).out;
  for (const char* section :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"}) {
    EXPECT_THAT(page, HasSubstr(std::string(".SH ") + section + "\n"));
  }
  EXPECT_THAT(run_cofferdam({"--help"}).out, HasSubstr("cofferdam run -- make test")) << "one source";
}

// ---------------------------------------------------------------------------------------------- help, man, completion

TEST_F(CliTest, EveryVerbHasHelpWithEverythingInIt) {
  for (const Verb& verb : verbs()) {
    std::vector<std::string> words;
    for (const std::string_view word : split(verb.name, ' ')) words.emplace_back(word);
    std::vector<std::string> asked = {"help"};
    asked.insert(asked.end(), words.begin(), words.end());
    words.emplace_back("--help");
    const Ended ended = run_cofferdam(words);
    EXPECT_EQ(ended.code, 0) << verb.name;
    EXPECT_EQ(ended.out, run_cofferdam(asked).out);
    for (const OptionSpec& option : options_of(verb))
      EXPECT_THAT(ended.out, HasSubstr("--" + std::string(option.name))) << verb.name;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("Usage: cofferdam "), HasSubstr("Examples:"), HasSubstr("Exit codes:")));
    EXPECT_THAT(run_cofferdam({"--help"}).out, HasSubstr(std::string(verb.summary)));
  }
}

TEST_F(CliTest, HelpWinsOverMissingThings) {
  EXPECT_EQ(run_cofferdam({"run", "-h"}).code, 0);
  EXPECT_EQ(run_cofferdam({"run", "--network", "deny", "--help", "make"}).code, 0);
  EXPECT_EQ(run_cofferdam({"completion", "--help"}).code, 0);
}

TEST_F(CliTest, LinesOfHelpFitATerminal) {
  const std::string text = run_cofferdam({"run", "--help"}).out;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 102U) << text.substr(start, end - start);  // "…" is three bytes
    start = end + 1;
  }
}

TEST_F(CliTest, EveryVerbHasAManPage) {
  for (const Verb& verb : verbs()) {
    const std::string page = run_cofferdam({"man", std::string(verb.name)}).out;
    EXPECT_THAT(page, StartsWith(".TH \"COFFERDAM\\-")) << verb.name;
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}) {
      EXPECT_THAT(page, HasSubstr(std::string("\n.SH ") + section + "\n")) << verb.name;
    }
  }
  EXPECT_THAT(run_cofferdam({"man"}).out, StartsWith(".TH \"COFFERDAM\" "));
  EXPECT_THAT(run_cofferdam({"man", "--list"}).out, StartsWith("run\n"));
}

TEST_F(CliTest, CompletionScriptsNameEveryFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = run_cofferdam({"completion", shell}).out;
    for (const Verb& verb : verbs()) {
      for (const std::string_view word : split(verb.name, ' ')) EXPECT_THAT(script, HasSubstr(std::string(word)));
      for (const OptionSpec& option : options_of(verb))
        EXPECT_THAT(script, HasSubstr(std::string(option.name))) << shell;
    }
    EXPECT_THAT(script, HasSubstr("claude_local"));
  }
}

}  // namespace
}  // namespace cofferdam::cli
