#include "recovery/process_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "system/child_process.h"
#include "system/file.h"

namespace cofferdam::recovery {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kEnv = "/usr/bin/env";  // looks the program up, as a shell would
constexpr int kSignalBase = 128;

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
  Pipe pipe{.reader = UniqueFd(ends[0]), .writer = UniqueFd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return Error::from_errno(errno, "prepare a pipe");
  return pipe;
}

int milliseconds_until(Clock::time_point when) {
  constexpr std::int64_t kLongest = 60'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongest));
}

class ChildExecution final : public Execution {
 public:
  ChildExecution(system::ChildProcess child, UniqueFd output, UniqueFd errors, std::chrono::milliseconds timeout)
      : child_(std::move(child)),
        output_(std::move(output)),
        errors_(std::move(errors)),
        timeout_(timeout),
        deadline_(Clock::now() + timeout) {}
  ChildExecution(const ChildExecution&) = delete;
  ChildExecution& operator=(const ChildExecution&) = delete;
  ~ChildExecution() override {
    if (!ended_) ::kill(-child_.pid(), SIGKILL);
  }

  Result<std::size_t> read(char* buffer, std::size_t size) override {
    while (output_) {
      const ssize_t count = ::read(output_.get(), buffer, size);
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0) {
        output_.reset();
        break;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return Error::from_errno(errno, "read from the sandbox");
      RETURN_IF_ERROR(wait_for(output_.get()));
    }
    return std::size_t{0};
  }

  Result<ExecOutcome> finish() override {
    while (errors_ || !ended_) {
      if (!ended_) {
        ASSIGN_OR_RETURN(const auto status, child_.try_wait());
        if (status) ended_ = *status;
      }
      drain_errors();
      // What a background process of the command might still say is of no interest.
      if (ended_) break;
      RETURN_IF_ERROR(wait_for(child_.pidfd()));
    }
    drain_errors();
    return ExecOutcome{.exit_code = ended_->signalled ? kSignalBase + ended_->value : ended_->value,
                       .error_text = std::move(error_text_)};
  }

 private:
  // Until `fd` is readable; standard error is emptied meanwhile, or the command could wait for us.
  Status wait_for(int fd) {
    while (true) {
      std::array<pollfd, 2> watched = {pollfd{.fd = fd, .events = POLLIN, .revents = 0},
                                       pollfd{.fd = errors_.get(), .events = POLLIN, .revents = 0}};
      const int ready = ::poll(watched.data(), watched.size(), milliseconds_until(deadline_));
      if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "wait for the sandbox");
      drain_errors();
      if (ready > 0 && watched[0].revents != 0) return {};
      if (Clock::now() >= deadline_) {
        return Error(ErrorCode::kTimedOut,
                     "a command in the sandbox did not end within " + std::to_string(timeout_.count()) + " ms");
      }
    }
  }

  void drain_errors() {
    std::array<char, kErrorTextBytes> buffer{};
    while (errors_) {
      const ssize_t count = ::read(errors_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return errors_.reset();
      error_text_.append(buffer.data(), static_cast<std::size_t>(count));
      if (error_text_.size() > kErrorTextBytes) error_text_.erase(0, error_text_.size() - kErrorTextBytes);
    }
  }

  system::ChildProcess child_;
  UniqueFd output_;
  UniqueFd errors_;
  std::chrono::milliseconds timeout_;
  Clock::time_point deadline_;
  std::string error_text_;
  std::optional<system::ExitStatus> ended_;
};

}  // namespace

Result<std::unique_ptr<Execution>> ProcessTransport::start(const ExecRequest& request) {
  ASSIGN_OR_RETURN(Pipe output, make_pipe());
  ASSIGN_OR_RETURN(Pipe errors, make_pipe());
  UniqueFd input;
  if (!request.input.empty()) {
    ASSIGN_OR_RETURN(input, system::memory_file("input", request.input));
  }
  std::vector<std::string> words = {kEnv, "--"};
  words.insert(words.end(), prefix_.begin(), prefix_.end());
  words.insert(words.end(), request.command.begin(), request.command.end());
  ASSIGN_OR_RETURN(system::ChildProcess child,
                   system::ChildProcess::spawn({.program = kEnv,
                                                .arguments = std::move(words),
                                                .environment = environment_,
                                                .descriptors = {input.get(), output.writer.get(), errors.writer.get()},
                                                .new_session = true,
                                                .working_directory = {}}));
  return std::make_unique<ChildExecution>(std::move(child), std::move(output.reader), std::move(errors.reader),
                                          request.timeout);
}

}  // namespace cofferdam::recovery
