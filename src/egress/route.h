// From an admitted name to the addresses that may be dialled for it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "async/loop.h"
#include "domain/egress_decision.h"
#include "egress/dialer.h"
#include "egress/environment.h"

namespace cofferdam::egress {

// Where an admitted destination may be dialled.
struct Route {
  std::vector<domain::IpAddress> addresses;  // vetted; empty: only the operator's proxy can resolve the name
  bool through_upstream = false;
};

// Why there is no route: a refusal (403) or a failure (502, 504).
struct NoRoute {
  bool refused = false;
  std::string reason;
  const domain::NetworkRule* rule = nullptr;
  int status = 502;
};

// Resolves an admitted name once and vets every answer. Without an operator's proxy the answers that pass are what is
// dialled. With one, that proxy resolves the name again and its answer counts: a name is refused when no answer here
// passes or a deny rule covers one of them, and passed on unchecked when it cannot be resolved here, as behind most
// corporate proxies, or not within kUpstreamResolveTime; that is remembered for a while. The environment must outlive
// the task.
inline constexpr std::chrono::seconds kUpstreamResolveTime{2};
async::Task<std::expected<Route, NoRoute>> find_route(Environment& environment, domain::Admission admission,
                                                      std::string host, std::uint16_t port);

async::Task<std::expected<Dialled, DialFailure>> dial_route(Environment& environment, Route route, std::string host,
                                                            std::uint16_t port);

}  // namespace cofferdam::egress
