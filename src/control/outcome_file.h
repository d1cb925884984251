// The outcome of a run as JSON, for programs that must not guess from a number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/plan.h"
#include "domain/outcome.h"
#include "egress/config.h"
#include "workspace/merge_plan.h"

namespace cofferdam::control {

// What became of the workspace of a run with --save or --copy.
struct WorkspaceReport {
  std::string saved_before;  // ids of snapshots; empty: not asked for, or failed
  std::string saved_after;
  bool copied = false;
  std::string kept_copy;                           // where the copy still is; empty when it is gone
  std::vector<workspace::MergeAction> remarkable;  // conflicts, refusals and what was kept, with their reasons
  workspace::MergeCounts merged;
  std::string history;                // what became of the commits: "fast_forward", "merged", …; empty without Git
  std::vector<std::string> branches;  // that the run made and that are the host's now
  std::vector<std::string> notes;     // what of the history stays behind or is kept elsewhere: full sentences
  std::string failure;                // of a save, the merge or the history; empty when all went well
};

struct RunReport {
  std::string run_id;
  domain::Outcome outcome;
  std::vector<confinement::PlannedLimit> limits;  // what was in force, and by what means
  std::optional<egress::EgressSummary> egress;    // of a run behind the egress proxy
  std::vector<std::string> unprotected;           // protected places that the host replaced during the run
  std::optional<WorkspaceReport> workspace;       // of a run with --save or --copy
  bool memory_limit_hit = false;                  // something in the run was killed for it, maybe not the command
};

// Members: run, kind, exit_code (of `cofferdam run`), exited, signalled (signal number), timed_out, out_of_memory,
// start_failed (kind and message), cancelled, duration_ms, limits, memory_limit_hit, unprotected, workspace (saves and
// merge), network (the proxy's counts and refusals). What does not apply is null or false.
// The exit code of `cofferdam run`: the command's own when it is not 0, else 125 when a save or the merge failed.
int exit_code_of(const RunReport& report);

std::string outcome_json(const RunReport& report);

// Before the start: takes away what an earlier run left there and proves that a file can be made, so that nobody reads
// an old outcome as this run's.
Status prepare_outcome(const std::string& path);

Status write_outcome(const std::string& path, const RunReport& report);

}  // namespace cofferdam::control
