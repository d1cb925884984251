// A run whose workspace is saved before and after, or that works on a private copy of it.
#pragma once

#include <map>
#include <string>

#include "control/local_run.h"
#include "control/outcome_file.h"
#include "control/snapshots.h"
#include "git/git_program.h"
#include "workspace/merge_plan.h"

namespace cofferdam::control {

struct WorkspaceOptions {
  bool save = false;       // before the first command and after the last
  bool copy = false;       // the command works on a private copy; results come back by a three-way merge
  bool keep_copy = false;  // also when everything came home
  workspace::Prefer prefer = workspace::Prefer::kBoth;
  std::string company = kUsualCompany;
};

// Reads top to bottom: save, copy, run, bring home, save. What must succeed before the command begins fails the run as
// set-up; what fails after it never hides how the command ended (exit_code_of), and the copy is kept and named. Writes
// request.outcome_file. Must be called from the main thread, as run_local.
RunReport run_with_workspace(LocalRunRequest request, const WorkspaceOptions& options, Snapshots& snapshots,
                             git::GitProgram& git, Messages& messages);

// The same with this machine's git.
RunReport run_with_workspace(LocalRunRequest request, const WorkspaceOptions& options, Snapshots& snapshots,
                             Messages& messages);

}  // namespace cofferdam::control
