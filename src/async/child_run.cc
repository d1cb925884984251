#include "async/child_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <limits>
#include <utility>

#include "async/deadline.h"
#include "async/task_scope.h"

namespace cofferdam::async {
namespace {

using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

constexpr std::size_t kChunk = std::size_t{64} << 10;

struct Pipe {
  UniqueFd reading;
  UniqueFd writing;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "Cannot make a pipe");
  return Pipe{.reading = UniqueFd(ends[0]), .writing = UniqueFd(ends[1])};
}

void make_non_blocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

struct Output {
  Descriptor from;
  int number;
  bool at_end = false;
};

// Lives in the frame of run_child, which joins both scopes before it goes.
class ChildRun {
 public:
  ChildRun(Executor executor, system::ChildProcess process, Pipe input, Pipe output, Pipe error, ChildOptions options,
           ChildIo& io)
      : executor_(executor),
        process_(std::move(process)),
        ended_fd_(executor, ::fcntl(process_.pidfd(), F_DUPFD_CLOEXEC, 0)),
        input_(executor),
        out_{.from = Descriptor(executor, output.reading.release()), .number = STDOUT_FILENO},
        err_{.from = Descriptor(executor, error.reading.release()), .number = STDERR_FILENO},
        options_(options),
        io_(io),
        outputs_(executor),
        feeder_(executor) {
    if (input.writing) input_.assign(input.writing.release());
  }

  Task<Result<ChildEnd>> follow() {
    co_await io_.started();
    outputs_.spawn(pass_on(out_));
    outputs_.spawn(pass_on(err_));
    if (options_.has_input) feeder_.spawn(feed());
    co_await until_ended();
    feeder_.cancel();
    co_await feeder_.join();
    ended_ = true;
    out_.from.cancel();
    err_.from.cancel();
    if (end_.cancelled) outputs_.cancel();
    co_await outputs_.join();
    co_return finish();
  }

 private:
  Task<void> until_ended() {
    std::optional<Deadline> deadline;
    if (options_.timeout) {
      deadline.emplace(executor_, *options_.timeout, [this] {
        end_.timed_out = true;
        end_tree();
      });
    }
    const auto [aborted] = co_await ended_fd_.async_wait(Descriptor::wait_read, kOutcome);
    if (!aborted) co_return;
    // The caller was cancelled, or an output failed.
    end_.cancelled = true;
    end_tree();
    (void)co_await ended_fd_.async_wait(Descriptor::wait_read,
                                        asio::bind_cancellation_slot(asio::cancellation_slot(), kOutcome));
  }

  void end_tree() {
    io_.signal_tree(SIGTERM);
    kill_.emplace(executor_, options_.grace, [this] { io_.signal_tree(SIGKILL); });
  }

  // What the child's descendants still write after its end is not its output: the last look takes only what lies there.
  Task<void> pass_on(Output& output) {
    for (bool last = false; !last;) {
      last = ended_;
      std::size_t most = std::numeric_limits<std::size_t>::max();
      if (last) {
        most = bytes_waiting(output.from.native_handle());
      } else {
        (void)co_await output.from.async_wait(Descriptor::wait_read, kOutcome);
      }
      if (!co_await drain(output, most)) co_return;
    }
  }

  static std::size_t bytes_waiting(int fd) {
    int count = 0;
    return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  // Passes on what can be read now. False when there will be no more.
  Task<bool> drain(Output& output, std::size_t most) {
    while (most > 0) {
      std::string bytes(std::min(most, kChunk), '\0');
      const ssize_t count = ::read(output.from.native_handle(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) co_return true;
      if (count <= 0) {
        output.at_end = true;
        co_return false;
      }
      bytes.resize(static_cast<std::size_t>(count));
      most -= bytes.size();
      const Status passed = co_await io_.output(output.number, std::move(bytes));
      if (!passed) {
        ended_fd_.cancel();
        co_return false;
      }
    }
    co_return true;
  }

  Task<void> feed() {
    while (true) {
      const Result<std::string> bytes = co_await io_.input(kChunk);
      if (!bytes || bytes->empty()) break;
      const auto [failed, count] = co_await asio::async_write(input_, asio::buffer(*bytes), kOutcome);
      if (failed) break;
    }
    input_.close();
  }

  Result<ChildEnd> finish() {
    kill_.reset();
    if (end_.timed_out || end_.cancelled) io_.signal_tree(SIGKILL);  // what the first signal left
    for (Output* const output : {&out_, &err_}) {
      if (!output->at_end) end_.still_held.emplace_back(output->from.release());
    }
    ASSIGN_OR_RETURN(end_.status, process_.wait());
    return std::move(end_);
  }

  Executor executor_;
  system::ChildProcess process_;
  Descriptor ended_fd_;  // readable when the child has ended
  Descriptor input_;
  Output out_;
  Output err_;
  ChildOptions options_;
  ChildIo& io_;
  TaskScope outputs_;
  TaskScope feeder_;
  std::optional<Deadline> kill_;
  ChildEnd end_;
  bool ended_ = false;
};

}  // namespace

Task<Result<ChildEnd>> run_child(system::SpawnRequest request, ChildOptions options, ChildIo& io) {
  const Executor executor = co_await asio::this_coro::executor;
  Pipe input;
  if (options.has_input) {
    auto made = make_pipe();
    if (!made) co_return std::move(made.error());
    input = std::move(*made);
    make_non_blocking(input.writing.get());
  }
  auto output = make_pipe();
  if (!output) co_return std::move(output.error());
  auto error = make_pipe();
  if (!error) co_return std::move(error.error());
  make_non_blocking(output->reading.get());
  make_non_blocking(error->reading.get());
  request.descriptors = {input.reading ? input.reading.get() : -1, output->writing.get(), error->writing.get()};
  auto process = system::ChildProcess::spawn(request);
  if (!process) co_return std::move(process.error());
  input.reading.reset();
  output->writing.reset();
  error->writing.reset();

  co_await asio::this_coro::throw_if_cancelled(false);
  ChildRun run(executor, std::move(*process), std::move(input), std::move(*output), std::move(*error), options, io);
  Result<ChildEnd> end = co_await run.follow();
  co_await asio::this_coro::throw_if_cancelled(true);
  co_return end;
}

}  // namespace cofferdam::async
