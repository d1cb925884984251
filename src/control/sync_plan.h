// What a merge of one directory into another would do.
#pragma once

#include <string>

#include "base/result.h"
#include "control/snapshots.h"
#include "workspace/merge_plan.h"

namespace cofferdam::control {

struct SyncPlanRequest {
  std::string base;  // what was sent: a directory (absolute), or a snapshot's name when `base_is_snapshot`
  bool base_is_snapshot = false;
  std::string company;
  std::string from;  // A, the result of a sandbox; absolute
  std::string into;  // B, the host's workspace; absolute
  workspace::Prefer prefer = workspace::Prefer::kBoth;
};

// Looks only. A `.git` at the root of the directories is not part of it: history comes home by Git itself.
Result<workspace::MergePlan> plan_sync(const SyncPlanRequest& request, Snapshots& snapshots);

}  // namespace cofferdam::control
