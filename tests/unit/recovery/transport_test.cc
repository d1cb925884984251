// Real processes, as a sandbox's commands.
#include <gmock/gmock.h>

#include <chrono>

#include "recovery/command_source.h"
#include "recovery/failure.h"
#include "recovery/process_transport.h"
#include "system/tree.h"

namespace cofferdam::recovery {
namespace {

using std::chrono::milliseconds;

class TransportTest : public testing::Test {
 protected:
  Result<ExecResult> run(const std::string& script, const std::string& input = "",
                         milliseconds timeout = milliseconds(20'000)) {
    ASSIGN_OR_RETURN(const auto execution,
                     transport_.start({.command = {"sh", "-c", script}, .input = input, .timeout = timeout}));
    return collect(*execution, 1U << 24);
  }

  ProcessTransport transport_{{"env"}, {"PATH=/usr/bin:/bin", "OWN=value"}};
};

TEST_F(TransportTest, StreamsAndOutcomesComeBack) {
  const auto result = run("cat; printf %s \"$OWN\"; echo words >&2; exit 7", "input\n");
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->output, "input\nvalue");
  EXPECT_EQ(result->outcome.exit_code, 7);
  EXPECT_EQ(result->outcome.error_text, "words\n");
  EXPECT_EQ(run("kill -9 $$")->outcome.exit_code, 137);
  EXPECT_EQ(run("exec /nonexistent/x")->outcome.exit_code, 127);
}

TEST_F(TransportTest, MuchOnBothStreamsDoesNotStopIt) {
  const auto result =
      run("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; printf end >&2; head -c 9 /dev/zero");
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->output.size(), 3'000'009U);
  EXPECT_EQ(result->outcome.error_text.size(), kErrorTextBytes);
  EXPECT_TRUE(result->outcome.error_text.ends_with("end"));
}

TEST_F(TransportTest, TimeIsBoundedAndNothingIsLeft) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run("sleep 60", "", milliseconds(100));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kTimedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  // A program that goes on after closing its output is waited for no longer either.
  EXPECT_FALSE(run("exec >&- 2>&-; sleep 60", "", milliseconds(100)));
}

TEST_F(TransportTest, OutputIsBounded) {
  const auto execution = transport_.start({.command = {"head", "-c", "101", "/dev/zero"}, .input = {}});
  ASSERT_TRUE(execution);
  const auto result = collect(**execution, 100);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
}

class CommandSourceTest : public TransportTest {
 protected:
  void SetUp() override {
    auto place = system::TemporaryDirectory::create("/tmp", "cofferdam-source-test-");
    ASSERT_TRUE(place);
    place_.emplace(*std::move(place));
    source_.emplace(transport_, place_->path(),
                    SourceTimes{.look = milliseconds(5'000), .stream = milliseconds(5'000)});
  }
  void make(const std::string& script) {
    EXPECT_EQ(run("cd " + place_->path() + " && " + script)->outcome.exit_code, 0);
  }

  std::optional<system::TemporaryDirectory> place_;
  std::optional<CommandSource> source_;
};

TEST_F(CommandSourceTest, RangesOfAFileAreRead) {
  make("printf 0123456789 >file");
  EXPECT_EQ(*source_->read("file", 0, 10), "0123456789");
  EXPECT_EQ(*source_->read("file", 3, 4), "3456");
  EXPECT_EQ(*source_->read("file", 8, 100), "89");
  EXPECT_EQ(*source_->read("file", 20, 5), "");
  EXPECT_FALSE(source_->read("absent", 0, 1));
}

TEST_F(CommandSourceTest, NeitherAFifoNorALinkIsRead) {
  make("mkfifo fifo && echo secret >file && ln -s file link");
  const auto fifo = source_->read("fifo", 0, 10);
  EXPECT_TRUE(!fifo || fifo->empty()) << "and it does not wait for a writer";
  EXPECT_FALSE(source_->read("link", 0, 10));
}

TEST_F(CommandSourceTest, TheRootMayBeALinkAndWhatIsExcludedIsNotListed) {
  make("mkdir real && touch real/a real/b 'real/*' && ln -s real w");
  CommandSource linked(transport_, place_->path() + "/w");
  const auto listing = linked.inventory(workspace::PathSet({"*"}));
  ASSERT_TRUE(listing) << listing.error().to_string();
  ASSERT_EQ(listing->size(), 3U);
  EXPECT_EQ(listing->back().path, "b");
}

}  // namespace
}  // namespace cofferdam::recovery
