// Scopes, deadlines and the pool for blocking calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "async/blocking_pool.h"
#include "async/deadline.h"
#include "async/task_scope.h"

namespace cofferdam::async {
namespace {

using std::chrono::milliseconds;

Task<void> sleep_for(milliseconds time, bool& finished) {
  Timer timer(co_await asio::this_coro::executor, time);
  const auto [failure] = co_await timer.async_wait(kOutcome);
  finished = !failure;
}

Task<void> cancel_and_join(TaskScope& scope, bool& joined) {
  scope.cancel();
  co_await scope.join();
  joined = true;
}

Task<void> only_join(TaskScope& scope, bool& joined) {
  co_await scope.join();
  joined = true;
}

TEST(TaskScopeTest, JoinWaitsForEveryTask) {
  Loop loop;
  TaskScope scope(loop.get_executor());
  TaskScope outer(loop.get_executor());
  bool first = false;
  bool second = false;
  bool joined = false;
  scope.spawn(sleep_for(milliseconds(5), first));
  scope.spawn(sleep_for(milliseconds(20), second));
  outer.spawn(only_join(scope, joined));
  loop.run();
  EXPECT_TRUE(first && second && joined);
  EXPECT_EQ(scope.size(), 0U);
}

TEST(TaskScopeTest, CancelEndsWhatWaits) {
  Loop loop;
  TaskScope scope(loop.get_executor());
  TaskScope outer(loop.get_executor());
  bool finished = false;
  bool joined = false;
  scope.spawn(sleep_for(milliseconds(60'000), finished));
  outer.spawn(cancel_and_join(scope, joined));
  const auto begun = Clock::now();
  loop.run();
  EXPECT_LT(Clock::now() - begun, milliseconds(5000));
  EXPECT_TRUE(joined);
  EXPECT_FALSE(finished);
}

Task<void> fail() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable_t<Executor>());
  throw std::runtime_error("a bug");
}

TEST(TaskScopeTest, ABugIsReportedAndTheOthersGoOn) {
  Loop loop;
  std::string reported;
  TaskScope scope(loop.get_executor(), [&](std::string_view what) { reported = what; });
  bool finished = false;
  scope.spawn(fail());
  scope.spawn(sleep_for(milliseconds(5), finished));
  loop.run();
  EXPECT_EQ(reported, "a bug");
  EXPECT_TRUE(finished);
}

TEST(DeadlineTest, FiresOnceAndNeverAfterItsEnd) {
  Loop loop;
  int fired = 0;
  {
    const Deadline gone(loop.get_executor(), milliseconds(1), [&] { ++fired; });
    std::this_thread::sleep_for(milliseconds(5));  // due, and destroyed before the loop can tell
  }
  const Deadline kept(loop.get_executor(), milliseconds(1), [&] { ++fired; });
  loop.run();
  EXPECT_EQ(fired, 1);
  EXPECT_TRUE(kept.expired());
}

Task<void> run_job(BlockingPool& pool, std::function<int()> job, Result<int>& out) {
  out = co_await pool.run(std::move(job));
}

TEST(BlockingPoolTest, RunsElsewhereAndResumesHere) {
  Loop loop;
  TaskScope scope(loop.get_executor());
  BlockingPool pool(2, 16);
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> elsewhere = false;
  Result<int> out = 0;
  scope.spawn(run_job(
      pool,
      [&] {
        elsewhere = std::this_thread::get_id() != here;
        return 7;
      },
      out));
  loop.run();
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(*out, 7);
  EXPECT_TRUE(elsewhere);
}

TEST(BlockingPoolTest, KeepsItsBounds) {
  Loop loop;
  TaskScope scope(loop.get_executor());
  std::atomic<bool> go = false;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  BlockingPool pool(2, 3);
  std::vector<Result<int>> out(8, Result<int>(0));
  for (Result<int>& one : out) {
    scope.spawn(run_job(
        pool,
        [&] {
          most = std::max(most.load(), ++running);
          while (!go) std::this_thread::sleep_for(milliseconds(1));
          --running;
          return 1;
        },
        one));
  }
  loop.poll();
  std::this_thread::sleep_for(milliseconds(20));
  go = true;
  loop.run();
  int refused = 0;
  for (const Result<int>& one : out) refused += one.has_value() ? 0 : 1;
  EXPECT_GE(refused, 3);
  EXPECT_LE(most, 2);
}

TEST(BlockingPoolTest, ACancelledCallerDoesNotWait) {
  Loop loop;
  TaskScope scope(loop.get_executor());
  TaskScope outer(loop.get_executor());
  auto go = std::make_shared<std::atomic<bool>>(false);
  Result<int> out = 0;
  bool joined = false;
  {
    BlockingPool pool(1, 4);
    scope.spawn(run_job(
        pool,
        [go] {
          while (!*go) std::this_thread::sleep_for(milliseconds(1));
          return 1;
        },
        out));
    loop.poll();
    outer.spawn(cancel_and_join(scope, joined));
    loop.restart();
    loop.run();
    EXPECT_TRUE(joined);
    *go = true;
  }
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace cofferdam::async
