// Patterns inside coroutines that some compilers build wrongly without a warning. CMake runs this file at
// configure time (with its own main); the unit tests run it again with the flags of the build under test.
#include "compiler_coroutine_patterns.h"

#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace cofferdam::async {
namespace {

int live_objects = 0;

// Counts constructions minus destructions; a temporary destroyed twice makes the sum negative.
struct Counted {
  Counted() { ++live_objects; }
  Counted(const Counted& other) : text(other.text) { ++live_objects; }
  Counted(Counted&& other) noexcept : text(std::move(other.text)) { ++live_objects; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --live_objects; }
  std::string text = "a text that is too long for the small string buffer";
};

template <class T>
struct Task {
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> waiter = std::noop_coroutine();
    Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Resume {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          return self.promise().waiter;
        }
        void await_resume() noexcept {}
      };
      return Resume{};
    }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> coroutine) : handle(coroutine) {}
  Task(Task&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Task(const Task&) = delete;
  ~Task() {
    if (handle) handle.destroy();
  }
  bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle.promise().waiter = waiter;
    return handle;
  }
  T await_resume() { return std::move(*handle.promise().value); }
  T run() {
    handle.resume();
    return await_resume();
  }
  std::coroutine_handle<promise_type> handle;
};

struct Options {
  Counted command;
  Counted directory;
};

Task<Counted> make() {
  co_return Counted();
}
Task<int> length(Options options) {
  co_return static_cast<int>(options.command.text.size() + options.directory.text.size());
}
template <class Function>
Task<int> call(Function function) {
  co_return function();
}
Task<int> three() {
  co_return 3;
}

Task<int> aggregate_argument() {
  co_return co_await length(Options{.command = Counted(), .directory = Counted()});
}

Task<int> aggregate_with_awaited_member() {
  Options options{co_await make(), Counted()};
  co_return static_cast<int>(options.command.text.size());
}

Task<int> capturing_lambda_argument() {
  Counted counted;
  co_return co_await call([counted] { return static_cast<int>(counted.text.size()); });
}

Task<int> conditional_operator(bool condition) {
  Counted chosen = condition ? co_await make() : Counted();
  co_return static_cast<int>(chosen.text.size());
}

Task<int> switch_on_await() {
  switch (co_await three()) {
    case 3:
      co_return 33;
    default:
      co_return 1;
  }
}

}  // namespace

std::string broken_coroutine_pattern() {
  const int size = static_cast<int>(Counted().text.size());
  if (aggregate_argument().run() != 2 * size || live_objects != 0) return "aggregate temporary as argument";
  if (aggregate_with_awaited_member().run() != size || live_objects != 0) return "aggregate with awaited member";
  if (capturing_lambda_argument().run() != size || live_objects != 0) return "capturing lambda as argument";
  if (conditional_operator(true).run() != size || live_objects != 0) return "conditional operator, first branch";
  if (conditional_operator(false).run() != size || live_objects != 0) return "conditional operator, second branch";
  if (switch_on_await().run() != 33) return "switch on an awaited value";
  return "";
}

}  // namespace cofferdam::async

#ifdef COFFERDAM_COMPILER_PROBE_MAIN
int main() {
  return cofferdam::async::broken_coroutine_pattern().empty() ? 0 : 1;
}
#endif
