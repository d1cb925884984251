// The egress proxy of one run: started when the plan wants one, and its refusals told at the end.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "confinement/plan.h"
#include "control/local_run.h"
#include "egress/egress_process.h"

namespace cofferdam::control {

// Nothing when the plan's network is not an allowlist. `environment` is the caller's: an operator's own proxy is
// named there. Decisions go to `run_folder`/decisions.jsonl.
Result<std::optional<egress::EgressProcess>> start_egress(const confinement::ConfinementPlan& plan,
                                                          const std::map<std::string, std::string>& environment,
                                                          const std::string& run_id, const std::string& run_folder);

// Of a proxy that ended before its run: how, and what that means. `last_words` is what its finish() gave.
void tell_lost_proxy(const Result<egress::EgressSummary>& last_words, Messages& messages);

// How many allowed connections failed; one line for each refused destination, with the switch that would allow it.
void tell_refusals(const egress::EgressSummary& summary, const std::string& run_id, Messages& messages);

}  // namespace cofferdam::control
