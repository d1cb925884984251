#include "confinement/network_plan.h"

#include <algorithm>
#include <utility>

#include "domain/egress_decision.h"

namespace cofferdam::confinement {
namespace {

constexpr std::uint16_t kFirstUnprivilegedPort = 1024;

std::string cannot_listen(const std::string& port) {
  return "Port " + port +
         " of the loopback is allowed, but nothing below 1024 can listen inside: reach it through the "
         "proxy, for which the client must not exempt loopback (--env NO_PROXY= --env no_proxy=)";
}

bool is_taken(const std::vector<Listener>& listeners, std::uint16_t port) {
  return std::ranges::find(listeners, port, &Listener::port) != listeners.end();
}

}  // namespace

NetworkPlan plan_network(const domain::Policy& policy) {
  NetworkPlan plan;
  if (policy.network != domain::NetworkScope::kAllowlist) return plan;
  plan.listeners.push_back({.payload = "proxy", .address = "127.0.0.1", .port = kProxyPort, .required = true});
  for (const domain::LoopbackForward& forward : domain::loopback_forwards(policy.allow)) {
    const std::string port = std::to_string(forward.port);
    if (forward.port < kFirstUnprivilegedPort) {
      // localhost has two addresses; one note is enough.
      std::string note = cannot_listen(port);
      if (std::ranges::find(plan.notes, note) == plan.notes.end()) plan.notes.push_back(std::move(note));
    } else if (!is_taken(plan.listeners, forward.port)) {
      // Both families lead to the one address of the host that the rule names first.
      const std::string payload = "direct " + forward.host + " " + port;
      plan.listeners.push_back({.payload = payload, .address = "127.0.0.1", .port = forward.port, .required = true});
      plan.listeners.push_back({.payload = payload, .address = "::1", .port = forward.port, .required = false});
    }
  }
  return plan;
}

}  // namespace cofferdam::confinement
