#include "system/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cofferdam::system {
namespace {

constexpr unsigned kMostThreads = 16;

// The failure of the lowest index so far.
class FirstFailure {
 public:
  void record(std::size_t index, Error error) {
    const std::lock_guard lock(mutex_);
    failed_.store(true, std::memory_order_relaxed);
    if (error_ && index >= index_) return;
    index_ = index;
    error_ = std::move(error);
  }
  bool any() const { return failed_.load(std::memory_order_relaxed); }
  Status take() && {
    if (error_) return std::move(*error_);
    return {};
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::size_t index_ = 0;
  std::optional<Error> error_;
};

}  // namespace

unsigned default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(static_cast<unsigned>(CPU_COUNT(&set)), 1U, kMostThreads);
}

Status for_each_parallel(std::size_t count, unsigned threads, const std::function<Status(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  FirstFailure failure;
  const auto work_through = [&] {
    while (!failure.any()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      if (Status done = work(index); !done) failure.record(index, std::move(done.error()));
    }
  };
  const std::size_t wanted = std::min<std::size_t>(threads == 0 ? default_threads() : threads, count);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work_through);
    work_through();
  }
  return std::move(failure).take();
}

}  // namespace cofferdam::system
