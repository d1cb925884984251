// What the connections of one proxy have in common.
#pragma once

#include <optional>

#include "domain/egress_decision.h"
#include "egress/config.h"
#include "egress/decision_log.h"
#include "egress/own_addresses.h"
#include "egress/pipe_pool.h"
#include "egress/resolver.h"
#include "egress/unresolved_names.h"
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
  UnresolvedNames& unresolved;
};

}  // namespace cofferdam::egress
