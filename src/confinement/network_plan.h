// What listens inside the sandbox when its network is an allowlist.
#pragma once

#include <string>
#include <vector>

#include "confinement/plan.h"

namespace cofferdam::confinement {

struct NetworkPlan {
  std::vector<Listener> listeners;
  std::vector<std::string> notes;  // what a rule asks for that cannot be had
};

// The proxy's own listener, and one on each loopback port that a rule names: clients that honour NO_PROXY dial those
// directly.
NetworkPlan plan_network(const domain::Policy& policy);

}  // namespace cofferdam::confinement
