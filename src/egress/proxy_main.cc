#include "egress/proxy_main.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "async/loop.h"
#include "async/task_scope.h"
#include "base/unique_fd.h"
#include "egress/hardening.h"
#include "egress/server.h"

namespace cofferdam::egress {
namespace {

namespace asio = async::asio;

constexpr int kConfigFd = 3;
constexpr int kChannelFd = 4;
constexpr int kLogFd = 5;
constexpr std::size_t kMaxConfigBytes = 4 * 1024 * 1024;

Result<std::string> read_config(UniqueFd file) {
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (text.size() <= kMaxConfigBytes) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read the configuration");
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return Error(ErrorCode::kResourceExhausted, "the configuration is longer than 4 MiB");
}

void keep_from_children(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Until the supervisor closes its end, on purpose or by dying.
async::Task<void> wait_for_supervisor(Server& server) {
  const async::Executor executor = co_await asio::this_coro::executor;
  asio::posix::basic_stream_descriptor<async::Executor> supervisor(executor, STDIN_FILENO);
  std::array<char, 64> ignored;
  while (true) {
    const auto [failure, count] = co_await supervisor.async_read_some(asio::buffer(ignored), async::kOutcome);
    if (failure) break;
  }
  co_await server.stop();
}

Status serve() {
  ASSIGN_OR_RETURN(const std::string text, read_config(UniqueFd(kConfigFd)));
  ASSIGN_OR_RETURN(EgressConfig config, egress_config_from_json(text));
  std::optional<UpstreamProxy> upstream;
  if (!config.upstream_proxy.empty()) {
    ASSIGN_OR_RETURN(upstream, parse_upstream_proxy(config.upstream_proxy));
  }
  RETURN_IF_ERROR(harden_process(config));
  ::mallopt(M_ARENA_MAX, 1);  // resolver threads allocate little; an arena for each would be resident for nothing
  keep_from_children(kChannelFd);
  keep_from_children(kLogFd);
  UniqueFd log(::fcntl(kLogFd, F_GETFD) >= 0 ? kLogFd : -1);

  async::Loop loop(1);
  SystemResolver resolver(config.bounds.resolver_threads);
  Server server(loop, std::move(config), std::move(upstream), resolver, std::move(log));
  server.serve_channel(UniqueFd(kChannelFd));
  async::TaskScope life(loop.get_executor());
  life.spawn(wait_for_supervisor(server));
  loop.run();

  const std::string line = to_json(server.summary()) + "\n";
  (void)!::write(STDOUT_FILENO, line.data(), line.size());
  // A resolver thread may still wait for a name service that does not answer: nothing is left to wait for.
  ::_exit(0);
}

}  // namespace

int run_proxy_process() {
  const Status status = serve();
  if (status) return 0;
  const std::string line = "cofferdam-egress: " + status.error().to_string() + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  return 1;
}

}  // namespace cofferdam::egress
