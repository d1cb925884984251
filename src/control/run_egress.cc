#include "control/run_egress.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "confinement/linux_host_view.h"
#include "egress/upstream_proxy.h"

namespace cofferdam::control {
namespace {

constexpr std::size_t kLinesShown = 20;

std::string destination(const egress::RefusedDestination& refused) {
  const bool v6 = refused.host.find(':') != std::string::npos && !refused.host.starts_with('[');
  const std::string host = v6 ? "[" + refused.host + "]" : refused.host;
  return printable(host) + ":" + std::to_string(refused.port);
}

struct Explanation {
  std::string_view reason;
  std::string_view text;
  std::string_view remedy;  // empty: none that a switch gives
};

constexpr std::string_view kAllowAddress = "if that is meant, allow the address itself: --allow ADDRESS:PORT";
constexpr std::string_view kAllowRaw = "if the traffic is meant, append /raw to the rule";

constexpr std::array kExplanations = {
    Explanation{"denied_by_rule", "a rule denies it", "deny rules win: leave that rule out to allow it"},
    Explanation{"plain_http_on_443", "a plain HTTP request for the port of HTTPS",
                "use https://, or append /raw to the rule"},
    Explanation{"address_metadata", "its address is a metadata service, which hands out this machine's credentials",
                kAllowAddress},
    Explanation{"address_loopback", "its address is on this machine's loopback", kAllowAddress},
    Explanation{"address_private", "its address is in a private network", kAllowAddress},
    Explanation{"address_unique-local", "its address is in a private network", kAllowAddress},
    Explanation{"address_carrier-grade", "its address is in a provider's shared network", kAllowAddress},
    Explanation{"address_link-local", "its address is on the local link", kAllowAddress},
    Explanation{"address_own", "its address is this machine's own", kAllowAddress},
    Explanation{"address_unspecified", "its address names no host", ""},
    Explanation{"address_multicast", "its address is a multicast group", ""},
    Explanation{"address_broadcast", "its address is a broadcast", ""},
    Explanation{"address_reserved", "its address is reserved, not on the Internet", kAllowAddress},
    Explanation{"sni_missing", "the TLS connection does not name the host", kAllowRaw},
    Explanation{"sni_mismatch", "the TLS connection names another host", kAllowRaw},
    Explanation{"not_tls", "what the client sent is no TLS", kAllowRaw},
    Explanation{"malformed_tls", "the TLS greeting cannot be read", kAllowRaw},
    Explanation{"not_http", "the client sent no HTTP request", kAllowRaw},
    Explanation{"http_host_mismatch", "a request in the connection names another host", "allow that host too"},
};

std::string line_for(const egress::RefusedDestination& refused) {
  std::string line = "refused " + destination(refused);
  if (refused.count > 1) line += " (" + std::to_string(refused.count) + " times)";
  const auto* found = std::ranges::find(kExplanations, refused.reason, &Explanation::reason);
  const bool explained = found != kExplanations.end();
  if (refused.reason == "no_rule") {
    line += ": no rule allows it";
  } else {
    line += ": " + (explained ? std::string(found->text) : printable(refused.reason));
  }
  if (!refused.rule.empty()) line += " (rule " + printable(refused.rule) + ")";
  if (refused.reason == "no_rule") line += "; --allow " + shell_quoted(destination(refused)) + " would";
  if (explained && !found->remedy.empty()) line += "; " + std::string(found->remedy);
  return line;
}

void tell_failures(const egress::EgressSummary& summary, const std::string& run_id, Messages& messages) {
  if (summary.failed == 0) return;
  messages.note(std::to_string(summary.failed) + " allowed connection" + (summary.failed == 1 ? "" : "s") +
                " failed; `cofferdam audit " + run_id + "` says why");
}

}  // namespace

Result<std::optional<egress::EgressProcess>> start_egress(const confinement::ConfinementPlan& plan,
                                                          const std::map<std::string, std::string>& environment,
                                                          const std::string& run_id, const std::string& run_folder) {
  if (plan.network != domain::NetworkScope::kAllowlist) return std::optional<egress::EgressProcess>();
  egress::EgressConfig config;
  ASSIGN_OR_RETURN(config.program, confinement::companion_program("cofferdam-egress"));
  config.run_id = run_id;
  config.log_path = run_folder + "/decisions.jsonl";
  config.allow = plan.allow;
  config.deny = plan.deny;
  config.upstream_proxy = egress::pick_upstream_proxy([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
  if (plan.identity.switch_user) {
    config.uid = plan.identity.host_uid;
    config.gid = plan.identity.host_gid;
  }
  ASSIGN_OR_RETURN(egress::EgressProcess process, egress::EgressProcess::start(config));
  return std::optional(std::move(process));
}

void tell_lost_proxy(const Result<egress::EgressSummary>& last_words, Messages& messages) {
  const std::string how = last_words ? "the egress proxy has ended too early" : last_words.error().message();
  messages.failure(Error(ErrorCode::kUnavailable,
                         how + ": the command goes on without a network; nothing it connects to is reached any more"));
}

void tell_refusals(const egress::EgressSummary& summary, const std::string& run_id, Messages& messages) {
  tell_failures(summary, run_id, messages);
  if (summary.denied == 0) return;
  messages.note(std::to_string(summary.denied) + (summary.denied == 1 ? " connection was" : " connections were") +
                " refused; `cofferdam audit " + run_id + "` lists every decision");
  for (std::size_t index = 0; index < summary.refused.size() && index < kLinesShown; ++index) {
    messages.note("  " + line_for(summary.refused[index]));
  }
  if (summary.refused.size() > kLinesShown || summary.refused_omitted > 0) messages.note("  and others");
}

}  // namespace cofferdam::control
