#include "async/child_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <optional>

#include "system/marked_processes.h"

namespace cofferdam::async {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Of this process alone: tests run beside each other.
std::string marker() {
  return "COFFERDAM_TEST_CHILD=" + std::to_string(::getpid());
}

class Collected final : public ChildIo {
 public:
  Task<void> started() override {
    was_started = true;
    co_return;
  }
  Task<Status> output(int descriptor, std::string bytes) override {
    if (pause > Clock::duration::zero()) {
      Timer timer(co_await asio::this_coro::executor, pause);
      (void)co_await timer.async_wait(kOutcome);
    }
    (descriptor == STDOUT_FILENO ? out : err) += bytes;
    if (out.size() >= fail_at) co_return Error(ErrorCode::kIo, "no");
    co_return Status();
  }
  Task<Result<std::string>> input(std::size_t most) override {
    std::string piece = to_send.substr(0, std::min<std::size_t>(most, 5000));
    to_send.erase(0, piece.size());
    co_return piece;
  }
  void signal_tree(int number) override { system::signal_marked(marker(), number); }

  bool was_started = false;
  std::string out;
  std::string err;
  std::string to_send;
  Clock::duration pause{0};
  std::size_t fail_at = std::string::npos;
};

system::SpawnRequest shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin", marker()}};
}

class ChildRunTest : public ::testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { EXPECT_TRUE(system::kill_marked(marker())); }

  Result<ChildEnd> run(const std::string& script, ChildOptions options = {},
                       std::optional<Clock::duration> cancel_after = {}) {
    Loop loop;
    std::optional<Result<ChildEnd>> end;
    asio::cancellation_signal cancel;
    asio::co_spawn(loop.get_executor(), run_child(shell(script), options, io),
                   asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr bug, Result<ChildEnd> result) {
                     EXPECT_FALSE(bug);
                     end = std::move(result);
                   }));
    Timer timer(loop.get_executor(), cancel_after.value_or(Clock::duration::zero()));
    if (cancel_after) timer.async_wait([&](auto) { cancel.emit(asio::cancellation_type::terminal); });
    loop.run();
    return std::move(*end);
  }

  Collected io;
};

TEST_F(ChildRunTest, BothStreamsAndTheExitCode) {
  const auto end = run("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(end);
  EXPECT_EQ(io.out, "out\n");
  EXPECT_EQ(io.err, "err\n");
  EXPECT_EQ(end->status.value, 7);
  EXPECT_FALSE(end->status.signalled);
  EXPECT_TRUE(end->still_held.empty());
}

TEST_F(ChildRunTest, InputReachesItWholeAndEnds) {
  io.to_send.assign(5'000'000, 'x');
  const auto end = run("wc -c", {.has_input = true});
  ASSERT_TRUE(end);
  EXPECT_EQ(io.out, "5000000\n");
}

TEST_F(ChildRunTest, InputThatNobodyReadsDoesNotHoldTheEnd) {
  io.to_send.assign(5'000'000, 'x');
  const auto end = run("exit 3", {.has_input = true});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status.value, 3);
}

TEST_F(ChildRunTest, NoInputIsAtItsEnd) {
  ASSERT_TRUE(run("wc -c"));
  EXPECT_EQ(io.out, "0\n");
}

TEST_F(ChildRunTest, ASlowReaderGetsEverything) {
  io.pause = milliseconds(1);
  const auto end = run("head -c 3000000 /dev/zero; printf last");
  ASSERT_TRUE(end);
  EXPECT_EQ(io.out.size(), 3'000'004U);
  EXPECT_TRUE(io.out.ends_with("last"));
}

TEST_F(ChildRunTest, AGrandchildThatHoldsThePipeDoesNotHoldTheEnd) {
  const auto begun = Clock::now();
  const auto end = run("sleep 30 & echo done");
  ASSERT_TRUE(end);
  EXPECT_EQ(io.out, "done\n");
  EXPECT_EQ(end->still_held.size(), 2U);
  EXPECT_LT(Clock::now() - begun, seconds(10));
  EXPECT_EQ(system::marked_processes(marker()).size(), 1U) << "it goes on";
}

TEST_F(ChildRunTest, ATimeoutEndsTheWholeTree) {
  const auto end = run("trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 30' & sleep 30; sleep 30",
                       {.timeout = milliseconds(300), .grace = milliseconds(100)});
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->timed_out);
  EXPECT_FALSE(end->cancelled);
  EXPECT_TRUE(system::kill_marked(marker()));
}

TEST_F(ChildRunTest, ACancelledCallerGetsItsAnswerWhenTheTreeIsGone) {
  const auto end = run("echo begun; exec sleep 30", {}, milliseconds(300));
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
  EXPECT_EQ(io.out, "begun\n");
  EXPECT_TRUE(end->status.signalled);
  EXPECT_EQ(end->status.value, SIGTERM);
}

TEST_F(ChildRunTest, AnOutputThatFailsEndsIt) {
  io.fail_at = 1000;
  const auto end = run("yes");
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
}

TEST_F(ChildRunTest, ASignalIsTold) {
  const auto end = run("kill -9 $$");
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->status.signalled);
  EXPECT_EQ(end->status.value, SIGKILL);
}

TEST_F(ChildRunTest, AProgramThatIsNotThere) {
  Loop loop;
  std::optional<Result<ChildEnd>> end;
  system::SpawnRequest request = shell("");
  request.program = "/no/such/program";
  asio::co_spawn(loop.get_executor(), run_child(request, {}, io),
                 [&](std::exception_ptr, Result<ChildEnd> result) { end = std::move(result); });
  loop.run();
  ASSERT_FALSE(*end);
  EXPECT_EQ(end->error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(io.was_started);
}

}  // namespace
}  // namespace cofferdam::async
