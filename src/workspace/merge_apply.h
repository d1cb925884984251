// Carries out a merge plan so that a crash at any point loses nothing.
//
// 1. The steps are written to the journal. 2. Everything new is prepared in `.paperclip-upload-<id>` in the workspace's
// root, on its own file system, and checked against the plan; then the preparation is written down. 3. Each step is a
// single rename (or mode change): new content is swapped with what is there, and what came out is checked to be what
// the plan expected. Something the host changed in between is kept as a conflict copy, or stays with Prefer::kHost.
// 4. The merge is marked as committed; the originals go.
//
// A crash before 4 is rolled back by recover_merge, one after it is finished.
//
// Durability: up to 64 prepared files are synchronised one by one, more of them with one syncfs; the journal's records
// are synchronised before what they announce; the whole file system once more before the commit.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/fault.h"
#include "workspace/merge_plan.h"

namespace cofferdam::workspace {

struct MergeRequest {
  int source = -1;      // root of the sandbox's result; read only
  int target = -1;      // root of the host's workspace
  std::string journal;  // directory for the journals of this workspace, best on its file system; made if absent
  FaultPoint* faults = nullptr;
};

struct MergeOutcome {
  std::vector<MergeAction> deviations;  // kKeep or kMoveAside: where the host changed after it was looked at
};

// The caller holds the workspace's lock and has recovered it. On failure the workspace is as it was
// (kFailedPrecondition with RetryClass::kAtOnce: the host changed so much that a new plan is needed); when even that
// failed, the error says so and the journal stays for the next command. Blocks; one thread per workspace.
Result<MergeOutcome> apply_merge(const MergeRequest& request, const MergePlan& plan);

enum class Recovery : std::uint8_t { kNothingToDo, kRolledBack, kFinished };

struct RecoveryOutcome {
  Recovery what = Recovery::kNothingToDo;
  // Originals that were put beside their path, because the host had something new there.
  std::vector<std::string> copies;
};

// Finishes or rolls back what an interrupted merge left. Can itself be interrupted and repeated. The lock is held.
Result<RecoveryOutcome> recover_merge(int target, const std::string& journal, FaultPoint* faults = nullptr);

}  // namespace cofferdam::workspace
