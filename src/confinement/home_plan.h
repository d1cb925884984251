// What a profile brings of the home directory: the agent's own directories, what in them stays as it is, and files that
// are copied in and back.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/grants.h"
#include "confinement/host_view.h"
#include "confinement/plan.h"
#include "confinement/protection.h"
#include "domain/policy.h"

namespace cofferdam::confinement {

struct HomeRequest {
  const domain::Policy& policy;
  const std::string& home;
};

// Adds to the mounts and to the plan's placeholders, copies and notes. Returns what must be protected besides: files of
// the workspace that a link in the home names.
Result<std::vector<ProtectedPath>> add_home(const HomeRequest& request, const HostView& host, Grants& grants,
                                            MountSet& mounts, ConfinementPlan& plan);

}  // namespace cofferdam::confinement
