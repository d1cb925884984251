// Work handed from one thread to a few others, with a bounded queue between them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace cofferdam::system {

// Any thread may submit; one waits, after the last submission. When the queue is full, submit() does a job itself, so
// that the submitter never idles while there is work; with no helper threads it does them all. The first failure stops
// everything after it.
class JobQueue {
 public:
  using Job = std::move_only_function<Status()>;

  JobQueue(unsigned helpers, std::size_t most_waiting);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  // Drops what waits and joins the threads.
  ~JobQueue();

  // The failure of an earlier job, or of this one when it was done here.
  Status submit(Job job);

  // Waits until every job is done; the first failure.
  Status finish();

 private:
  void help();
  void run(Job& job);
  Status failure() const;

  const std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::size_t running_ = 0;
  bool closed_ = false;
  std::optional<Error> failure_;
  std::vector<std::jthread> helpers_;
};

}  // namespace cofferdam::system
