#include "egress/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "domain/address_policy.h"

namespace cofferdam::egress {
namespace {

namespace asio = async::asio;
using async::Task;
using boost::system::error_code;

// How long accepting rests when the system is short of descriptors or memory.
constexpr std::chrono::milliseconds kShortageRest{50};
constexpr int kProbeAfterSeconds = 75;  // longer than a closed socket is kept in FIN_WAIT2
constexpr std::string_view kUnpaced = "reno";
constexpr std::size_t kMaxMessageBytes = 256;

// What the sockets that a listener accepts inherit from it.
void set_up_clients_of(int listener) {
  constexpr int kOn = 1;
  // A relay passes small pieces on at once.
  ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  // A client that closed while an origin keeps silent answers probes with a reset.
  ::setsockopt(listener, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof(kOn));
  ::setsockopt(listener, IPPROTO_TCP, TCP_KEEPIDLE, &kProbeAfterSeconds, sizeof(kProbeAfterSeconds));
  // Clients are on this machine's loopback, where nothing is congested: an algorithm that paces what it sends, as a
  // host's default may (BBR), would only slow them down. Every kernel has this one and lets everybody choose it.
  ::setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, kUnpaced.data(), static_cast<socklen_t>(kUnpaced.size()));
}

bool is_gone(const error_code& failure) {
  return failure == asio::error::operation_aborted || failure == asio::error::bad_descriptor;
}

}  // namespace

Result<ListenerPurpose> parse_listener_purpose(std::string_view text) {
  const Error broken(ErrorCode::kInvalidArgument, "a message on the channel is not \"proxy\" or \"direct HOST PORT\"");
  if (text == "proxy") return ListenerPurpose(ProxyListener{});
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() != 3 || words[0] != "direct") return broken;
  const Result<std::string> host = domain::canonical_host(words[1]);
  const std::optional<std::uint64_t> port = parse_decimal(words[2]);
  if (!host || !port || *port == 0 || *port > 65535) return broken;
  const std::optional<domain::IpAddress> address = domain::IpAddress::parse(*host);
  const bool loopback = *host == "localhost" || (address && classify(*address) == domain::AddressKind::kLoopback);
  if (!loopback) return broken;
  return ListenerPurpose(DirectListener{.host = *host, .port = static_cast<std::uint16_t>(*port)});
}

Server::Server(async::Loop& loop, EgressConfig config, std::optional<UpstreamProxy> upstream, Resolver& resolver,
               UniqueFd log)
    : executor_(loop.get_executor()),
      config_(std::move(config)),
      upstream_(std::move(upstream)),
      rules_(config_.allow, config_.deny),
      log_(executor_, std::move(log), config_.run_id, config_.bounds.log_bytes),
      environment_{rules_, config_.bounds, upstream_, resolver, log_, pipes_, own_, unresolved_},
      listeners_(executor_, [this](std::string_view what) { report(what); }),
      connections_(executor_, [this](std::string_view what) { report(what); }),
      room_(executor_, async::Clock::time_point::max()) {}

void Server::report(std::string_view what) {
  const std::string line = "cofferdam-egress: " + printable(what) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

Status Server::add_listener(UniqueFd socket, ListenerPurpose purpose) {
  int domain = 0;
  socklen_t size = sizeof(domain);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) {
    return Error::from_errno(errno, "examine a listener");
  }
  Acceptor acceptor(executor_);
  error_code failure;
  acceptor.assign(domain == AF_INET6 ? async::Tcp::v6() : async::Tcp::v4(), socket.get(), failure);
  if (failure) return Error(ErrorCode::kInvalidArgument, "a listener cannot be used: " + failure.message());
  (void)socket.release();
  set_up_clients_of(acceptor.native_handle());
  acceptor.non_blocking(true, failure);
  listeners_.spawn(accept_from(std::move(acceptor), std::move(purpose)));
  return {};
}

Task<void> Server::accept_from(Acceptor acceptor, ListenerPurpose purpose) {
  while (true) {
    if (connections_.size() >= config_.bounds.connections) {
      (void)co_await room_.async_wait(async::kOutcome);
      continue;
    }
    auto [failure, client] = co_await acceptor.async_accept(async::kOutcome);
    if (is_gone(failure)) co_return;
    if (!failure) {
      connections_.spawn(serve(std::move(client), purpose));
    } else if (failure != asio::error::connection_aborted) {
      async::Timer rest(executor_, kShortageRest);
      (void)co_await rest.async_wait(async::kOutcome);
    }
  }
}

Task<void> Server::serve(async::Socket client, ListenerPurpose purpose) {
  if (const auto* direct = std::get_if<DirectListener>(&purpose)) {
    co_await serve_direct_client(environment_, std::move(client), direct->host, direct->port);
  } else {
    co_await serve_proxy_client(environment_, std::move(client));
  }
  room_.cancel();
}

void Server::serve_channel(UniqueFd channel) {
  listeners_.spawn(read_channel(std::move(channel)));
}

Task<void> Server::read_channel(UniqueFd channel) {
  asio::posix::basic_stream_descriptor<async::Executor> stream(executor_, channel.release());
  for (bool open = true; open;) {
    const auto [failure] = co_await stream.async_wait(asio::posix::descriptor_base::wait_read, async::kOutcome);
    if (failure) co_return;
    receive_listener(stream.native_handle(), open);
  }
}

// One message: what the listener is for, and its descriptor. `open` becomes false at the end of the channel.
void Server::receive_listener(int channel, bool& open) {
  std::array<char, kMaxMessageBytes> text;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    open = false;
    return;
  }
  UniqueFd listener;
  for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr; part_of = CMSG_NXTHDR(&message, part_of)) {
    if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part_of), sizeof(fd));
    listener.reset(fd);
  }
  Result<ListenerPurpose> purpose = parse_listener_purpose({text.data(), static_cast<std::size_t>(got)});
  if (!purpose) return report(purpose.error().to_string());
  if (!listener) return report("a message on the channel carries no listener");
  const Status added = add_listener(std::move(listener), std::move(*purpose));
  if (!added) report(added.error().to_string());
}

Task<void> Server::stop() {
  listeners_.cancel();
  connections_.cancel();
  co_await listeners_.join();
  connections_.cancel();
  co_await connections_.join();
  log_.flush();
}

}  // namespace cofferdam::egress
