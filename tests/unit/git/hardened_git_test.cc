#include "git/hardened_git.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>

#include "git/bounded_process.h"

namespace cofferdam::git {
namespace {

using namespace std::chrono_literals;

Result<ProcessOutput> shell(const std::string& script, std::chrono::milliseconds timeout = 10s,
                            std::size_t limit = 1024) {
  return run_bounded({.command = {"/bin/sh", "-c", script},
                      .environment = {},
                      .working_directory = "/",
                      .timeout = timeout,
                      .output_limit = limit,
                      .error_limit = 16});
}

TEST(BoundedProcess, GivesOutputErrorAndExitCode) {
  const auto output = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(output);
  EXPECT_EQ(output->standard_output, "out\n");
  EXPECT_EQ(output->standard_error, "err\n");
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(shell("kill -TERM $$")->exit_code, 128 + SIGTERM);
}

TEST(BoundedProcess, BoundsTheOutput) {
  EXPECT_EQ(shell("printf 1234", 10s, 4)->standard_output, "1234");
  EXPECT_EQ(shell("printf 12345", 10s, 4).error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(shell("head -c 100000 /dev/zero >&2")->standard_error.size(), 16U);
}

TEST(BoundedProcess, EndsWhatTakesTooLongEvenIfItIgnoresTerm) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(shell("trap '' TERM; sleep 60 & wait; sleep 60", 50ms).error().code(), ErrorCode::kTimedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(BoundedProcess, DoesNotWaitForWhatHoldsItsOutput) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(shell("sleep 60 & echo started")->standard_output, "started\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

class HardenedGitTest : public testing::Test {
 protected:
  GitOutput run(GitCommand command) {
    auto output = git_.run(command);
    EXPECT_TRUE(output) << output.error().to_string();
    return output ? *std::move(output) : GitOutput{};
  }
  HardenedGit git_{*find_git()};
};

TEST_F(HardenedGitTest, InheritsNothing) {
  ::setenv("GIT_DIR", "/nonexistent", 1);
  ::setenv("GIT_CONFIG_COUNT", "1", 1);
  ::setenv("GIT_CONFIG_KEY_0", "a.b", 1);
  ::setenv("GIT_CONFIG_VALUE_0", "leaked", 1);
  const GitOutput output = run({.repository = "/", .arguments = {"config", "--list"}});
  EXPECT_THAT(output.standard_output, testing::HasSubstr("core.fsmonitor=false"));
  EXPECT_THAT(output.standard_output, testing::HasSubstr("safe.directory=/"));
  EXPECT_THAT(output.standard_output, testing::Not(testing::HasSubstr("leaked")));
  EXPECT_THAT(hardened_environment({.repository = "/a/b", .arguments = {}}),
              testing::IsSupersetOf({"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
                                     "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C",
                                     "GIT_CEILING_DIRECTORIES=/a"}));
}

TEST_F(HardenedGitTest, FeedsMuchInputAndReadsMuchOutput) {
  const std::string much(8U << 20, 'x');
  const GitOutput output =
      run({.repository = "/", .arguments = {"stripspace"}, .input = much, .output_limit = much.size() + 1});
  EXPECT_EQ(output.standard_output, much + "\n");
}

TEST_F(HardenedGitTest, SaysWhatGitSaid) {
  const auto text = run_successfully(git_, {.repository = "/", .arguments = {"rev-parse", "--verify", "x"}});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), testing::HasSubstr("git rev-parse failed: fatal: not a git repository"));
}

}  // namespace
}  // namespace cofferdam::git
