#include "async/task_scope.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>
#include <cassert>
#include <utility>

namespace cofferdam::async {

TaskScope::TaskScope(Executor executor, BugReporter report_bug)
    : executor_(executor), report_bug_(std::move(report_bug)), empty_(executor, Clock::time_point::max()) {}

TaskScope::~TaskScope() {
  assert(tasks_.empty());
}

void TaskScope::spawn(Task<void> task) {
  const auto entry = tasks_.emplace(tasks_.end());
  asio::co_spawn(executor_, std::move(task),
                 asio::bind_cancellation_slot(
                     entry->slot(), [this, entry](std::exception_ptr failure) { ended(entry, std::move(failure)); }));
}

void TaskScope::cancel() {
  for (asio::cancellation_signal& task : tasks_) task.emit(asio::cancellation_type::terminal);
}

Task<void> TaskScope::join() {
  // The caller's cancellation state stays as it is: it belongs to everything the caller does afterwards.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!tasks_.empty()) {
    (void)co_await empty_.async_wait(asio::bind_cancellation_slot(asio::cancellation_slot(), kOutcome));
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
}

void TaskScope::ended(Tasks::iterator task, std::exception_ptr failure) {
  tasks_.erase(task);
  if (tasks_.empty()) empty_.cancel();
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::operation_aborted && report_bug_) report_bug_(error.what());
  } catch (const std::exception& error) {
    if (report_bug_) report_bug_(error.what());
  }
}

}  // namespace cofferdam::async
