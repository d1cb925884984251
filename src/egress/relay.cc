#include "egress/relay.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cerrno>
#include <utility>

#include "base/scope_exit.h"

namespace cofferdam::egress {
namespace {

using async::Socket;
using async::Task;
using boost::system::error_code;

constexpr std::size_t kCopyBytes = 64 * 1024;
// After so many rounds without a pause other connections get their turn.
constexpr int kRoundsPerTurn = 16;

}  // namespace

void reset_connection(Socket& socket) {
  error_code ignored;
  socket.set_option(async::asio::socket_base::linger(true, 0), ignored);
  // Explicitly: Asio's destructor would take the option back, lest it block.
  socket.close(ignored);
}

Task<void> Relay::run() {
  using namespace async::asio::experimental::awaitable_operators;
  co_await (pump_up() && pump_down());
}

void Relay::abort() {
  if (std::exchange(aborted_, true)) return;
  reset_connection(client_);
  reset_connection(upstream_);
}

Task<void> Relay::pump(Socket& from, Socket& to, std::uint64_t& counter, bool& done, bool& other_done) {
  char next = 0;
  while (!aborted_) {
    // A look at the next byte, not a wait for readiness: Asio tells the poller about each of those anew.
    const auto [failure, count] =
        co_await from.async_receive(async::asio::buffer(&next, 1), Socket::message_peek, async::kOutcome);
    if (failure == async::asio::error::eof) break;
    if (failure || aborted_) {
      abort();
      break;
    }
    const Moved moved = co_await move_spliced(from, to, counter);
    if (moved == Moved::kEnd) break;
  }
  done = true;
  error_code ignored;
  if (!aborted_) to.shutdown(Socket::shutdown_send, ignored);
  // A reset after the end of this direction must still reach the other side, which may be waiting for ever.
  if (!aborted_ && !other_done) {
    (void)co_await from.async_wait(Socket::wait_error, async::kOutcome);
    int pending = 0;
    socklen_t size = sizeof(pending);
    ::getsockopt(from.native_handle(), SOL_SOCKET, SO_ERROR, &pending, &size);
    if (pending != 0) abort();
  } else {
    to.cancel(ignored);  // wakes the other direction's wait for an error
  }
}

Task<Relay::Moved> Relay::move_spliced(Socket& from, Socket& to, std::uint64_t& counter) {
  Pipe pipe = pipes_.take();
  if (!pipe) co_return co_await move_copied(from, to, counter);
  std::size_t in_pipe = 0;
  const ScopeExit put_away([&] {
    if (in_pipe == 0) {
      pipes_.give_back(std::move(pipe));
    } else {
      pipes_.discard(std::move(pipe));
    }
  });
  constexpr unsigned kFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
  for (int round = 0; round < kRoundsPerTurn; ++round) {
    const ssize_t got =
        ::splice(from.native_handle(), nullptr, pipe.write_end.get(), nullptr, PipePool::kPipeBytes, kFlags);
    if (got == 0) co_return Moved::kEnd;
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) abort();
      co_return aborted_ ? Moved::kEnd : Moved::kAgain;
    }
    in_pipe = static_cast<std::size_t>(got);
    while (in_pipe > 0) {
      const ssize_t put = ::splice(pipe.read_end.get(), nullptr, to.native_handle(), nullptr, in_pipe, kFlags);
      if (put > 0) {
        in_pipe -= static_cast<std::size_t>(put);
        counter += static_cast<std::uint64_t>(put);
        continue;
      }
      if (put == 0 || (errno != EAGAIN && errno != EINTR)) {
        abort();
        co_return Moved::kEnd;
      }
      const auto [failure] = co_await to.async_wait(Socket::wait_write, async::kOutcome);
      if (failure || aborted_) {
        abort();
        co_return Moved::kEnd;
      }
    }
  }
  co_return Moved::kAgain;
}

Task<Relay::Moved> Relay::move_copied(Socket& from, Socket& to, std::uint64_t& counter) {
  std::string buffer(kCopyBytes, '\0');
  const ssize_t got = ::recv(from.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got == 0) co_return Moved::kEnd;
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) abort();
    co_return aborted_ ? Moved::kEnd : Moved::kAgain;
  }
  std::size_t sent = 0;
  while (sent < static_cast<std::size_t>(got)) {
    const ssize_t put = ::send(to.native_handle(), buffer.data() + sent, static_cast<std::size_t>(got) - sent,
                               MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) {
      sent += static_cast<std::size_t>(put);
      counter += static_cast<std::uint64_t>(put);
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) {
      abort();
      co_return Moved::kEnd;
    }
    const auto [failure] = co_await to.async_wait(Socket::wait_write, async::kOutcome);
    if (failure || aborted_) {
      abort();
      co_return Moved::kEnd;
    }
  }
  co_return Moved::kAgain;
}

}  // namespace cofferdam::egress
