#include "egress/dialer.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <memory>

#include "async/deadline.h"
#include "base/strings.h"

namespace cofferdam::egress {
namespace {

using async::Socket;
using async::Task;
using async::Tcp;
using boost::system::error_code;
using domain::IpAddress;
namespace asio = async::asio;

asio::ip::address to_asio(const IpAddress& address) {
  if (address.is_v6) return asio::ip::address_v6(address.bytes);
  asio::ip::address_v4::bytes_type bytes;
  std::copy_n(address.bytes.begin(), 4, bytes.begin());
  return asio::ip::address_v4(bytes);
}

std::string reason_of(const error_code& failure) {
  if (failure == asio::error::connection_refused) return "connection_refused";
  if (failure == asio::error::timed_out) return "connect_timeout";
  if (failure == asio::error::no_descriptors || failure == error_code(ENFILE, boost::system::system_category()))
    return "descriptors_exhausted";
  if (failure == asio::error::host_unreachable || failure == asio::error::network_unreachable) return "unreachable";
  if (failure == asio::error::connection_reset) return "connection_reset";
  return "connect_failed";
}

// All attempts of one dial; shared with the handlers of attempts that lose.
struct Race {
  explicit Race(async::Executor executor) : news(executor) {}
  std::vector<std::unique_ptr<Socket>> attempts;
  std::size_t running = 0;
  std::optional<std::size_t> winner;
  error_code last_failure;
  async::Timer news;
};

void settle(Race& race, std::size_t index, const error_code& failure) {
  --race.running;
  if (failure) {
    if (failure != asio::error::operation_aborted) race.last_failure = failure;
  } else if (!race.winner) {
    race.winner = index;
  }
  race.news.cancel();
}

// Goes on connecting: nothing when the connection stands, already_started while it does not yet.
error_code continue_connecting(Socket& socket, const Tcp::endpoint& destination) {
  if (::connect(socket.native_handle(), destination.data(), static_cast<socklen_t>(destination.size())) == 0) return {};
  return {errno, boost::system::system_category()};
}

void follow_attempt(const std::shared_ptr<Race>& race, std::size_t index, const Tcp::endpoint& destination) {
  Socket& socket = *race->attempts[index];
  const error_code failure = continue_connecting(socket, destination);
  if (failure != asio::error::already_started) return settle(*race, index, failure);
  socket.async_wait(Socket::wait_write, [race, index, destination](const error_code& gone) {
    if (gone) return settle(*race, index, gone);
    follow_attempt(race, index, destination);
  });
}

// Connects by hand: asked a second time, the kernel knows that a connection on this machine stands, and neither the
// poller nor a timer is needed for it.
void start_attempt(const std::shared_ptr<Race>& race, async::Executor executor, const IpAddress& address,
                   std::uint16_t port) {
  const std::size_t index = race->attempts.size();
  const Tcp::endpoint destination(to_asio(address), port);
  Socket& socket = *race->attempts.emplace_back(std::make_unique<Socket>(executor));
  ++race->running;
  error_code failure;
  socket.open(destination.protocol(), failure);
  if (!failure) socket.native_non_blocking(true, failure);
  if (!failure) failure = continue_connecting(socket, destination);
  if (failure != asio::error::in_progress) return settle(*race, index, failure);
  follow_attempt(race, index, destination);
}

void abandon_losers(Race& race) {
  for (std::size_t i = 0; i < race.attempts.size(); ++i) {
    error_code ignored;
    if (race.winner != i && race.attempts[i]) race.attempts[i]->close(ignored);
  }
}

// Alternates between the families, the resolver's first one first.
std::vector<IpAddress> interleaved(const std::vector<IpAddress>& addresses) {
  std::vector<IpAddress> first;
  std::vector<IpAddress> second;
  for (const IpAddress& address : addresses)
    (address.is_v6 == addresses.front().is_v6 ? first : second).push_back(address);
  std::vector<IpAddress> out;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) out.push_back(first[i]);
    if (i < second.size()) out.push_back(second[i]);
  }
  return out;
}

constexpr std::size_t kMaxProxyHeadBytes = 16 * 1024;

// Reads up to the blank line and not one byte further: what follows belongs to the tunnel.
Task<std::optional<std::string>> read_proxy_head(Socket& socket) {
  std::string head;
  std::array<char, 2048> window;
  while (head.size() < kMaxProxyHeadBytes) {
    const auto [failure] = co_await socket.async_wait(Socket::wait_read, async::kOutcome);
    if (failure) co_return std::nullopt;
    const ssize_t seen = ::recv(socket.native_handle(), window.data(), window.size(), MSG_PEEK | MSG_DONTWAIT);
    if (seen < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (seen <= 0) co_return std::nullopt;
    const std::size_t before = head.size();
    head.append(window.data(), static_cast<std::size_t>(seen));
    const std::size_t end = head.find("\r\n\r\n", before < 3 ? 0 : before - 3);
    const std::size_t wanted = end == std::string::npos ? head.size() : end + 4;
    head.resize(wanted);
    if (::recv(socket.native_handle(), window.data(), wanted - before, MSG_DONTWAIT) !=
        static_cast<ssize_t>(wanted - before)) {
      co_return std::nullopt;
    }
    if (end != std::string::npos) co_return head;
  }
  co_return std::nullopt;
}

int status_of(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return 0;
  return static_cast<int>(parse_decimal(head.substr(9, 3)).value_or(0));
}

DialFailure failed(int status, std::string reason) {
  return {.status = status, .reason = std::move(reason)};
}

}  // namespace

Task<std::expected<Dialled, DialFailure>> dial(std::vector<IpAddress> addresses, std::uint16_t port,
                                               async::Clock::duration timeout) {
  const async::Executor executor = co_await asio::this_coro::executor;
  const auto race = std::make_shared<Race>(executor);
  const auto end = async::Clock::now() + timeout;
  const std::vector<IpAddress> order = interleaved(addresses);
  while (!race->winner) {
    const bool more = race->attempts.size() < order.size();
    if (!more && race->running == 0) break;
    if (more) start_attempt(race, executor, order[race->attempts.size()], port);
    if (race->winner || race->running == 0) continue;
    const bool last = race->attempts.size() == order.size();
    race->news.expires_at(last ? end : std::min(end, async::Clock::now() + kStagger));
    const auto [wake] = co_await race->news.async_wait(async::kOutcome);
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      race->winner.reset();
      abandon_losers(*race);
      co_return std::unexpected(failed(502, "cancelled"));
    }
    if (!wake && async::Clock::now() >= end) {
      race->last_failure = asio::error::timed_out;
      break;
    }
  }
  abandon_losers(*race);
  if (!race->winner) {
    const bool timed_out = race->last_failure == asio::error::timed_out;
    co_return std::unexpected(failed(timed_out ? 504 : 502, reason_of(race->last_failure)));
  }
  Dialled out{.socket = std::move(*race->attempts[*race->winner]), .address = order[*race->winner]};
  error_code ignored;
  out.socket.set_option(Tcp::no_delay(true), ignored);
  out.socket.set_option(Socket::keep_alive(true), ignored);  // a peer that vanished must not hold a tunnel for ever
  co_return out;
}

Task<std::expected<Dialled, DialFailure>> dial_through(UpstreamProxy proxy, Resolver& resolver, std::string host,
                                                       std::uint16_t port, async::Clock::duration timeout) {
  std::vector<IpAddress> addresses;
  if (const std::optional<IpAddress> literal = IpAddress::parse(proxy.host)) {
    addresses.push_back(*literal);
  } else {
    Resolution resolution = co_await resolver.resolve(proxy.host);
    if (resolution.addresses.empty()) co_return std::unexpected(failed(502, "proxy_" + resolution.failure));
    addresses = std::move(resolution.addresses);
  }
  std::expected<Dialled, DialFailure> connection = co_await dial(std::move(addresses), proxy.port, timeout);
  if (!connection) co_return std::unexpected(failed(connection.error().status, "proxy_" + connection.error().reason));

  const async::Executor executor = co_await asio::this_coro::executor;
  Socket& socket = connection->socket;
  const async::Deadline deadline(executor, timeout, [&socket] {
    error_code ignored;
    socket.close(ignored);
  });
  const std::string authority = (host.contains(':') ? "[" + host + "]" : host) + ":" + std::to_string(port);
  std::string request = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
  if (!proxy.authorization.empty()) request += "Proxy-Authorization: " + proxy.authorization + "\r\n";
  request += "\r\n";
  const auto [failure, written] = co_await asio::async_write(socket, asio::buffer(request), async::kOutcome);
  std::optional<std::string> head;
  if (!failure) head = co_await read_proxy_head(socket);
  if (deadline.expired()) co_return std::unexpected(failed(504, "proxy_timeout"));
  if (!head) co_return std::unexpected(failed(502, "proxy_closed"));
  const int status = status_of(*head);
  if (status < 200 || status > 299) co_return std::unexpected(failed(502, "proxy_answered_" + std::to_string(status)));
  co_return std::move(*connection);
}

}  // namespace cofferdam::egress
