#include "git/bounded_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/unique_fd.h"
#include "domain/path.h"
#include "system/child_process.h"

namespace cofferdam::git {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kKillGrace{250};

// One stream of a child, read without ever waiting.
class Collector {
 public:
  static Result<Collector> create(std::size_t limit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
    Collector out(UniqueFd(ends[0]), UniqueFd(ends[1]), limit);
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return Error::from_errno(errno, "prepare a pipe");
    return out;
  }

  int writer() const { return writer_.get(); }
  int reader() const { return reader_.get(); }  // -1 after its end
  void close_writer() { writer_.reset(); }
  bool overflowed() const { return overflowed_; }
  std::string take() { return std::move(text_); }

  void drain() {
    char chunk[65536];
    while (reader_) {
      const ssize_t count = ::read(reader_.get(), chunk, sizeof chunk);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return reader_.reset();
      const std::size_t kept = std::min(static_cast<std::size_t>(count), limit_ - text_.size());
      text_.append(chunk, kept);
      overflowed_ = overflowed_ || kept < static_cast<std::size_t>(count);
    }
  }

 private:
  Collector(UniqueFd reader, UniqueFd writer, std::size_t limit)
      : reader_(std::move(reader)), writer_(std::move(writer)), limit_(limit) {}

  UniqueFd reader_;
  UniqueFd writer_;
  std::size_t limit_;
  std::string text_;
  bool overflowed_ = false;
};

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left, 60'000));
}

bool wait_readable(int fd, std::chrono::milliseconds time) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, static_cast<int>(time.count())) > 0;
}

class Supervision {
 public:
  Supervision(const BoundedProcess& process, system::ChildProcess child, Collector out, Collector err)
      : process_(process), child_(std::move(child)), out_(std::move(out)), err_(std::move(err)) {}

  Result<ProcessOutput> finish() {
    const std::optional<Error> stopped = watch();
    if (stopped) end_group();
    ASSIGN_OR_RETURN(const system::ExitStatus status, child_.wait());
    if (stopped) return *stopped;
    return ProcessOutput{.exit_code = status.signalled ? 128 + status.value : status.value,
                         .standard_output = out_.take(),
                         .standard_error = err_.take()};
  }

 private:
  // Until the child has ended; an error when it must be ended.
  std::optional<Error> watch() {
    const Clock::time_point deadline = Clock::now() + process_.timeout;
    while (true) {
      std::array<pollfd, 3> watched = {pollfd{.fd = child_.pidfd(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = out_.reader(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = err_.reader(), .events = POLLIN, .revents = 0}};
      const int ready = ::poll(watched.data(), watched.size(), milliseconds_until(deadline));
      if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "wait for " + name());
      out_.drain();
      err_.drain();
      if (out_.overflowed()) {
        return Error(ErrorCode::kResourceExhausted,
                     name() + " printed more than " + std::to_string(process_.output_limit) + " bytes");
      }
      if (ready > 0 && (watched[0].revents & POLLIN) != 0) return std::nullopt;
      if (Clock::now() >= deadline) {
        return Error(ErrorCode::kTimedOut,
                     name() + " did not end within " + std::to_string(process_.timeout.count()) + " ms");
      }
    }
  }

  void end_group() const {
    ::kill(-child_.pid(), SIGTERM);
    (void)wait_readable(child_.pidfd(), kKillGrace);
    ::kill(-child_.pid(), SIGKILL);
  }

  std::string name() const { return std::string(domain::name_of(process_.command.front())); }

  const BoundedProcess& process_;
  system::ChildProcess child_;
  Collector out_;
  Collector err_;
};

}  // namespace

Result<ProcessOutput> run_bounded(const BoundedProcess& process) {
  ASSIGN_OR_RETURN(Collector out, Collector::create(process.output_limit));
  ASSIGN_OR_RETURN(Collector err, Collector::create(process.error_limit));
  system::SpawnRequest request{.program = process.command.front(),
                               .arguments = process.command,
                               .environment = process.environment,
                               .descriptors = {process.standard_input, out.writer(), err.writer()},
                               .new_session = true,
                               .working_directory = process.working_directory};
  ASSIGN_OR_RETURN(system::ChildProcess child, system::ChildProcess::spawn(request));
  out.close_writer();
  err.close_writer();
  return Supervision(process, std::move(child), std::move(out), std::move(err)).finish();
}

}  // namespace cofferdam::git
