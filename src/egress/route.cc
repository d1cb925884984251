#include "egress/route.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

#include "domain/address_policy.h"

namespace cofferdam::egress {
namespace {

using async::Task;
using domain::IpAddress;

Task<Resolution> resolve_in_time(Environment& environment, std::string host, async::Clock::duration limit) {
  using namespace async::asio::experimental::awaitable_operators;
  async::Timer timer(co_await async::asio::this_coro::executor, limit);
  auto first = co_await (environment.resolver.resolve(std::move(host)) || timer.async_wait(async::kOutcome));
  if (first.index() == 0) co_return std::move(std::get<0>(first));
  Resolution out;
  out.failure = "dns_timeout";
  co_return out;
}

// What the name service of this machine says. Behind an operator's proxy that is a second opinion, for which a
// connection waits only once in a while.
Task<Resolution> resolve_here(Environment& environment, std::string host) {
  const async::Clock::duration limit = environment.bounds.connect_timeout;
  if (!environment.upstream) co_return co_await resolve_in_time(environment, std::move(host), limit);
  if (environment.unresolved.contains(host, async::Clock::now())) co_return Resolution();
  Resolution resolution =
      co_await resolve_in_time(environment, host, std::min<async::Clock::duration>(limit, kUpstreamResolveTime));
  if (resolution.addresses.empty()) environment.unresolved.add(std::move(host), async::Clock::now());
  co_return resolution;
}

}  // namespace

Task<std::expected<Route, NoRoute>> find_route(Environment& environment, domain::Admission admission, std::string host,
                                               std::uint16_t port) {
  Route route;
  std::vector<IpAddress> candidates;
  const std::optional<IpAddress> literal = IpAddress::parse(host);
  const bool needs_name_service = !literal && host != "localhost";
  if (literal) {
    candidates.push_back(*literal);
  } else if (!needs_name_service) {
    candidates = {IpAddress::v4(0x7F000001), *IpAddress::parse("::1")};
  } else {
    Resolution resolution = co_await resolve_here(environment, host);
    if (resolution.addresses.empty() && environment.upstream) {
      route.through_upstream = true;
      co_return route;
    }
    if (resolution.addresses.empty()) {
      const int status = resolution.failure == "dns_timeout" ? 504 : 502;
      co_return std::unexpected(NoRoute{false, resolution.failure, nullptr, status});
    }
    candidates = std::move(resolution.addresses);
  }
  NoRoute refusal{true, "address_reserved", nullptr, 403};
  bool any_denied = false;
  for (const IpAddress& candidate : candidates) {
    const domain::AddressVerdict verdict = environment.rules.vet(admission, candidate, port, environment.own.get());
    if (verdict.allowed) {
      route.addresses.push_back(candidate.unmapped());
    } else if (!any_denied) {
      any_denied = verdict.rule != nullptr;
      refusal.reason = verdict.reason;
      refusal.rule = verdict.rule;
    }
  }
  // An operator's proxy picks among the answers itself: one that a deny rule covers condemns the name.
  const bool condemned = environment.upstream && needs_name_service && any_denied;
  if (route.addresses.empty() || condemned) co_return std::unexpected(std::move(refusal));
  const bool loopback = domain::classify(route.addresses.front()) == domain::AddressKind::kLoopback;
  route.through_upstream = environment.upstream && !loopback;
  co_return route;
}

Task<std::expected<Dialled, DialFailure>> dial_route(Environment& environment, Route route, std::string host,
                                                     std::uint16_t port) {
  const async::Clock::duration limit = environment.bounds.connect_timeout;
  if (route.through_upstream) {
    co_return co_await dial_through(*environment.upstream, environment.resolver, std::move(host), port, limit);
  }
  co_return co_await dial(std::move(route.addresses), port, limit);
}

}  // namespace cofferdam::egress
