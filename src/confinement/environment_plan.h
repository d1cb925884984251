// The environment of the command: nothing is inherited that the policy does not name.
#pragma once

#include <vector>

#include "confinement/host_view.h"
#include "confinement/mount_set.h"

namespace cofferdam::confinement {

struct EnvironmentRequest {
  const domain::Policy& policy;
  std::string home;
  std::string user_name;
};

// `mounts` tells which entries of the caller's PATH exist inside; the others are left out.
std::vector<PlannedVariable> plan_environment(const HostView& host, const MountSet& mounts,
                                              const EnvironmentRequest& request);

}  // namespace cofferdam::confinement
