// The second lock: what Landlock allows, derived from the mounts.
#pragma once

#include <string>

#include "confinement/mount_set.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

struct LandlockRequest {
  int abi = 0;  // of this kernel; 0 = none
  bool nested_sandboxes = false;
  domain::FilesystemScope filesystem = domain::FilesystemScope::kWorkspace;
  std::string home;
};

LandlockPlan plan_landlock(const LandlockRequest& request, const MountSet& mounts);

}  // namespace cofferdam::confinement
