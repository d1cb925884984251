// Owner of running coroutines.
#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <exception>
#include <functional>
#include <list>
#include <string_view>

#include "async/loop.h"

namespace cofferdam::async {

// Every task that is started belongs to a scope; whoever owns the scope cancels it and awaits join() before the
// scope goes. Use from the loop's thread only. A task that ends with an exception other than its cancellation has
// a bug: the scope reports it and goes on.
class TaskScope {
 public:
  using BugReporter = std::function<void(std::string_view what)>;

  explicit TaskScope(Executor executor, BugReporter report_bug = {});
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  ~TaskScope();

  void spawn(Task<void> task);
  // Asks every task to end: what it awaits, now or next, fails with operation_aborted.
  void cancel();
  // Until no task is left. Not for two callers at once. Goes on waiting when the caller is cancelled meanwhile,
  // because tasks that are still running use what the caller owns. A caller that may have been cancelled before
  // must have switched throw_if_cancelled off, or the call itself throws.
  Task<void> join();
  std::size_t size() const { return tasks_.size(); }

 private:
  using Tasks = std::list<asio::cancellation_signal>;

  void ended(Tasks::iterator task, std::exception_ptr failure);

  Executor executor_;
  BugReporter report_bug_;
  Tasks tasks_;
  Timer empty_;  // cancelled when the last task ends
};

}  // namespace cofferdam::async
