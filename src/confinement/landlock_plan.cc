#include "confinement/landlock_plan.h"

namespace cofferdam::confinement {

using domain::Access;

LandlockPlan plan_landlock(const LandlockRequest& request, const MountSet& mounts) {
  if (request.nested_sandboxes) return {.reason = "off: nested sandboxes must be able to mount"};
  if (request.abi == 0) return {.reason = "off: this kernel has no Landlock"};
  LandlockPlan plan{.abi = request.abi, .rules = {}, .reason = "second lock behind the mounts"};
  if (request.filesystem == domain::FilesystemScope::kHost) {
    plan.rules.push_back({.path = "/", .access = Access::kReadWrite});
    return plan;
  }
  plan.rules.push_back({.path = "/", .access = Access::kReadOnly});
  for (const char* path : {"/dev", "/proc", "/tmp", "/var/tmp", "/run"}) {
    plan.rules.push_back({.path = path, .access = Access::kReadWrite});
  }
  plan.rules.push_back({.path = request.home, .access = Access::kReadWrite});
  for (const Mount& mount : mounts.all()) {
    if (mount.kind == Mount::Kind::kReadWrite) {
      plan.rules.push_back({.path = mount.target, .access = Access::kReadWrite});
    }
  }
  return plan;
}

}  // namespace cofferdam::confinement
