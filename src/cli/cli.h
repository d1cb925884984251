// The command line: from argv to one call of control/, and from its result to text and an exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "control/audit.h"
#include "control/doctor.h"
#include "control/explain.h"
#include "control/local_run.h"
#include "control/snapshots.h"
#include "control/sync_plan.h"
#include "control/workspace_run.h"

namespace cofferdam::cli {

// What the verbs call. The program wires control/ in; tests wire fakes in.
struct Services {
  domain::Outcome (*run_local)(const control::LocalRunRequest&, control::Messages&);
  Result<std::string> (*explain_local)(const domain::Policy&, const std::vector<std::string>&, control::ExplainFormat);
  std::vector<control::Finding> (*examine_host)();
  Result<std::vector<std::string>> (*read_decisions)(const control::AuditQuery&);
  // Null in the program that starts quickly: what needs them is done by the engine, which takes this process over.
  control::Snapshots* snapshots = nullptr;
  control::RunReport (*run_with_workspace)(control::LocalRunRequest, const control::WorkspaceOptions&,
                                           control::Snapshots&, control::Messages&) = nullptr;
  Result<workspace::MergePlan> (*plan_sync)(const control::SyncPlanRequest&, control::Snapshots&) = nullptr;
  Error (*become_engine)() = nullptr;
};

struct Program {
  std::string_view version;
  Services services;
};

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitOwnFailure = 125;

// Runs the program with `arguments` (without the program's name). Returns the exit code. Call from the main thread.
int run_program(const Program& program, const std::vector<std::string>& arguments, Console& console);

}  // namespace cofferdam::cli
