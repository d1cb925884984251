#include "egress/egress_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "egress/upstream_proxy.h"

namespace cofferdam::egress {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxSummaryBytes = 1024 * 1024;

struct Pair {
  UniqueFd first;
  UniqueFd second;
};

Result<Pair> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
  return Pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<Pair> make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error::from_errno(errno, "make the proxy's channel");
  }
  return Pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// In memory only: the text may hold the password of the upstream proxy.
Result<UniqueFd> in_memory_file(std::string_view text) {
  UniqueFd file(::memfd_create("egress-config", MFD_CLOEXEC));
  if (!file) return Error::from_errno(errno, "make a file in memory");
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error::from_errno(errno, "write a file in memory");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return Error::from_errno(errno, "rewind a file in memory");
  return file;
}

Result<UniqueFd> open_log(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return Error::from_errno(errno, "open the decision log " + path);
  return file;
}

int remaining_ms(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

bool wait_readable(int fd, Clock::time_point end) {
  while (true) {
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, remaining_ms(end));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string read_until_end(int fd, Clock::time_point end) {
  std::string out;
  std::array<char, 8192> piece;
  while (out.size() < kMaxSummaryBytes && wait_readable(fd, end)) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
  return out;
}

}  // namespace

Result<EgressProcess> EgressProcess::start(const EgressConfig& config) {
  if (!config.upstream_proxy.empty()) RETURN_IF_ERROR(parse_upstream_proxy(config.upstream_proxy));
  ASSIGN_OR_RETURN(const UniqueFd log, open_log(config.log_path));
  ASSIGN_OR_RETURN(const UniqueFd configuration, in_memory_file(to_json(config)));
  ASSIGN_OR_RETURN(Pair life, make_pipe());
  ASSIGN_OR_RETURN(Pair summary, make_pipe());
  ASSIGN_OR_RETURN(Pair channel, make_channel());
  system::SpawnRequest request;
  request.program = config.program;
  request.arguments = {"cofferdam-egress"};
  request.descriptors = {life.first.get(),    summary.second.get(), STDERR_FILENO,
                         configuration.get(), channel.second.get(), log.get()};
  // Of its own session: an interrupt from the terminal is for the command, the proxy ends with the supervisor.
  request.new_session = true;
  request.working_directory = "/";
  ASSIGN_OR_RETURN(system::ChildProcess child, system::ChildProcess::spawn(request));
  return EgressProcess(std::move(child), std::move(life.second), std::move(summary.first), std::move(channel.first),
                       domain::loopback_forwards(config.allow));
}

Result<EgressSummary> EgressProcess::finish(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  channel_.reset();
  life_.reset();
  const std::string text = read_until_end(summary_.get(), end);
  if (!wait_readable(child_.pidfd(), end)) {
    child_.kill(SIGKILL);
    (void)child_.wait();
    return Error(ErrorCode::kTimedOut, "the egress proxy did not end in time and was killed");
  }
  ASSIGN_OR_RETURN(const system::ExitStatus status, child_.wait());
  if (status.signalled) {
    return Error(ErrorCode::kInternal, "the egress proxy was ended by signal " + std::to_string(status.value));
  }
  if (status.value != 0) {
    return Error(ErrorCode::kInternal, "the egress proxy ended with status " + std::to_string(status.value));
  }
  return egress_summary_from_json(text);
}

}  // namespace cofferdam::egress
