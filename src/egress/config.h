// What one proxy process is told: the supervisor's view, and the JSON text in which it travels.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/network_rule.h"

namespace cofferdam::egress {

struct EgressBounds {
  std::uint32_t connections = 16384;                  // at once; more wait in the listeners' queues
  std::chrono::milliseconds head_timeout{30'000};     // for a request head, and for a TLS hello on 443
  std::chrono::milliseconds idle_timeout{120'000};    // of a kept-alive connection between two requests
  std::chrono::milliseconds connect_timeout{15'000};  // resolving and connecting together
  std::uint32_t resolver_threads = 4;
  std::uint64_t log_bytes = 16 * 1024 * 1024;  // of the decision log; the oldest lines go first

  bool operator==(const EgressBounds&) const = default;
};

struct EgressConfig {
  std::string program;  // absolute path of cofferdam-egress
  std::string run_id;
  std::string log_path;  // decisions.jsonl; created with mode 0600
  std::vector<domain::NetworkRule> allow;
  std::vector<domain::NetworkRule> deny;
  std::string upstream_proxy;  // URL of an operator's proxy, may hold a password; empty: connect directly
  EgressBounds bounds;
  std::optional<std::uint32_t> uid;  // to change to, when started as root
  std::optional<std::uint32_t> gid;

  bool operator==(const EgressConfig&) const = default;
};

// Without `program` and `log_path`, which the process has as its image and as an open descriptor.
std::string to_json(const EgressConfig& config);
Result<EgressConfig> egress_config_from_json(std::string_view text);

struct RefusedDestination {
  std::string host;
  std::uint16_t port = 0;
  std::string reason;  // "no_rule", "denied_by_rule", "address_private", "sni_mismatch" …
  std::string rule;    // text of the rule that refused; empty: none
  std::uint64_t count = 0;

  bool operator==(const RefusedDestination&) const = default;
};

// What the process did, told when it ends.
struct EgressSummary {
  static constexpr std::size_t kMaxRefused = 256;

  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  std::uint64_t failed = 0;  // allowed, but the destination could not be reached
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t log_failures = 0;           // lines that could not be written
  std::vector<RefusedDestination> refused;  // each once, in the order of their first refusal
  std::uint64_t refused_omitted = 0;        // refusals of destinations beyond kMaxRefused

  bool operator==(const EgressSummary&) const = default;
};

std::string to_json(const EgressSummary& summary);
Result<EgressSummary> egress_summary_from_json(std::string_view text);

}  // namespace cofferdam::egress
