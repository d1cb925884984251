// From policy to plan. A pure function of the policy, the command and what the host view answers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

// Errors: what the policy asks for that is unsafe (a workspace that is the home directory, a path that passes
// through a symbolic link the command could have planted) or missing on this host. What cannot be enforced here is an
// obstacle in the plan. Nothing has been started or changed.
Result<ConfinementPlan> make_plan(const domain::Policy& policy, const std::vector<std::string>& command,
                                  const HostView& host);

}  // namespace cofferdam::confinement
