#include "control/run_egress.h"

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

std::string line_for(const egress::RefusedDestination& refused) {
  std::string line = "refused " + destination(refused);
  if (refused.count > 1) line += " (" + std::to_string(refused.count) + " times)";
  line += refused.reason == "no_rule" ? ": no rule allows it" : ": " + printable(refused.reason);
  if (!refused.rule.empty()) line += " (rule " + printable(refused.rule) + ")";
  if (refused.reason == "no_rule") line += "; --allow " + shell_quoted(destination(refused)) + " would";
  return line;
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

void tell_refusals(const egress::EgressSummary& summary, const std::string& run_id, Messages& messages) {
  if (summary.denied == 0) return;
  messages.note(std::to_string(summary.denied) + (summary.denied == 1 ? " connection was" : " connections were") +
                " refused; `cofferdam audit " + run_id + "` lists every decision");
  for (std::size_t index = 0; index < summary.refused.size() && index < kLinesShown; ++index) {
    messages.note("  " + line_for(summary.refused[index]));
  }
  if (summary.refused.size() > kLinesShown || summary.refused_omitted > 0) messages.note("  and others");
}

}  // namespace cofferdam::control
