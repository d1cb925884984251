// One client connection of the proxy, from its first byte to its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "domain/egress_decision.h"
#include "egress/config.h"
#include "egress/decision_log.h"
#include "egress/own_addresses.h"
#include "egress/pipe_pool.h"
#include "egress/resolver.h"
#include "egress/upstream_proxy.h"

namespace cofferdam::egress {

// What all connections of one proxy share. Outlives them.
struct Environment {
  const domain::EgressRules& rules;
  const EgressBounds& bounds;
  const std::optional<UpstreamProxy>& upstream;
  Resolver& resolver;
  DecisionLog& log;
  PipePool& pipes;
  OwnAddresses& own;
};

// Serves the requests of a client until it goes or is refused. The environment must outlive the task.
async::Task<void> serve_proxy_client(Environment& environment, async::Socket client);

// Forwards a connection to a listener on a loopback port of the sandbox to that port of the host.
async::Task<void> serve_direct_client(Environment& environment, async::Socket client, std::string host,
                                      std::uint16_t port);

}  // namespace cofferdam::egress
