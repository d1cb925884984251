// A few threads for calls that block.
#pragma once

#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "async/loop.h"
#include "base/result.h"

namespace cofferdam::async {

// Threads are made when work comes, up to a bound; so is the queue bounded. run() is called on the loop and resumes
// there. A cancelled caller stops waiting; its job still ends on its thread and the value is dropped. The
// destructor waits for running jobs and must run while the loop of every caller still exists.
class BlockingPool {
 public:
  BlockingPool(std::size_t max_threads, std::size_t max_queued) : max_threads_(max_threads), max_queued_(max_queued) {}
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool();

  // The value of job(). kResourceExhausted when the queue is full, kCancelled when the caller was cancelled.
  template <class T>
  Task<Result<T>> run(std::function<T()> job) {
    const Executor executor = co_await asio::this_coro::executor;
    struct Pending {
      Timer ready;
      std::optional<T> value;
    };
    const auto pending = std::make_shared<Pending>(Timer(executor, Clock::time_point::max()));
    std::function<void()> work = [pending, executor, job = std::move(job)] {
      asio::post(executor, [pending, value = job()]() mutable {
        pending->value = std::move(value);
        pending->ready.cancel();
      });
    };
    if (!enqueue(std::move(work)))
      co_return Error(ErrorCode::kResourceExhausted, "too many blocking calls are waiting");
    (void)co_await pending->ready.async_wait(kOutcome);
    if (!pending->value) co_return Error(ErrorCode::kCancelled, "the caller of a blocking call was cancelled");
    co_return std::move(*pending->value);
  }

 private:
  bool enqueue(std::function<void()> work);
  void work_until_closed();

  const std::size_t max_threads_;
  const std::size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool closed_ = false;
};

}  // namespace cofferdam::async
