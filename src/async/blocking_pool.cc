#include "async/blocking_pool.h"

#include <system_error>

namespace cofferdam::async {

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool BlockingPool::enqueue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= max_queued_) return false;
  if (queue_.size() >= idle_ && threads_.size() < max_threads_) {
    try {
      threads_.emplace_back([this] { work_until_closed(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;  // the limit of processes is reached; the threads there are must do
    }
  }
  queue_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void BlockingPool::work_until_closed() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    --idle_;
    if (closed_) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace cofferdam::async
