// Opens the outbound side of a connection.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/loop.h"
#include "egress/resolver.h"
#include "egress/upstream_proxy.h"

namespace cofferdam::egress {

struct DialFailure {
  int status = 502;    // of the answer to the client
  std::string reason;  // "connection_refused", "connect_timeout", "unreachable", "nxdomain", "proxy_refused" …
};

struct Dialled {
  async::Socket socket;
  domain::IpAddress address;  // of the peer: the destination or the operator's proxy
};

// Connects to one of `addresses`, all of which the caller has vetted: the next one is tried when the last has not
// answered within kStagger, and the first to answer wins (RFC 8305 in small).
inline constexpr std::chrono::milliseconds kStagger{250};
async::Task<std::expected<Dialled, DialFailure>> dial(std::vector<domain::IpAddress> addresses, std::uint16_t port,
                                                      async::Clock::duration timeout);

// A tunnel to host:port through the operator's proxy.
async::Task<std::expected<Dialled, DialFailure>> dial_through(UpstreamProxy proxy, Resolver& resolver, std::string host,
                                                              std::uint16_t port, async::Clock::duration timeout);

}  // namespace cofferdam::egress
