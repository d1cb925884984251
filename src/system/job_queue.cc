#include "system/job_queue.h"

#include <utility>

namespace cofferdam::system {

JobQueue::JobQueue(unsigned helpers, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (unsigned i = 0; i < helpers; ++i) helpers_.emplace_back([this] { help(); });
}

JobQueue::~JobQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

Status JobQueue::submit(Job job) {
  {
    std::unique_lock lock(mutex_);
    if (failure_) return *failure_;
    if (!helpers_.empty() && waiting_.size() < most_waiting_) {
      waiting_.push_back(std::move(job));
      lock.unlock();
      changed_.notify_all();
      return {};
    }
    ++running_;
  }
  run(job);
  return failure();
}

Status JobQueue::finish() {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty() && !failure_) {
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    run(job);
    lock.lock();
  }
  changed_.wait(lock, [this] { return running_ == 0; });
  if (failure_) return *failure_;
  return {};
}

void JobQueue::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || (!waiting_.empty() && !failure_); });
    if (closed_) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    lock.unlock();
    run(job);
    lock.lock();
  }
}

// Counted as running by the caller.
void JobQueue::run(Job& job) {
  Status done = job();
  job = nullptr;  // what it held goes before it counts as done
  {
    const std::lock_guard lock(mutex_);
    --running_;
    if (!done && !failure_) failure_ = std::move(done.error());
  }
  changed_.notify_all();
}

Status JobQueue::failure() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return *failure_;
  return {};
}

}  // namespace cofferdam::system
