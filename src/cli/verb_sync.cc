#include <sys/stat.h>

#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/paths.h"
#include "cli/prefer.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"
#include "control/sync_plan.h"

namespace cofferdam::cli {
namespace {

using workspace::MergeAction;

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<control::SyncPlanRequest> request_from(const Arguments& arguments) {
  control::SyncPlanRequest request;
  request.company = company_of(arguments);
  request.prefer = preferred(arguments.value("prefer"));
  ASSIGN_OR_RETURN(request.from, absolute_path(arguments.positionals[0]));
  ASSIGN_OR_RETURN(request.into, absolute_path(arguments.positionals[1]));
  if (!arguments.has("base")) {
    return Error(ErrorCode::kInvalidArgument, "--base is missing")
        .with_hint("Say what A began as: --base DIR, or --base SNAPSHOT.");
  }
  request.base = arguments.value("base");
  ASSIGN_OR_RETURN(const std::string directory, absolute_path(request.base));
  request.base_is_snapshot = !is_directory(directory);
  if (!request.base_is_snapshot) request.base = directory;
  return request;
}

std::string line_of(const MergeAction& action) {
  std::string line = std::string(workspace::to_string(action.verb)) + "  " + printable(action.path);
  if (action.reason != workspace::MergeReason::kNone) line += ": " + std::string(workspace::to_string(action.reason));
  if (!action.copy_path.empty()) line += " (moved to " + printable(action.copy_path) + ")";
  return line + "\n";
}

boost::json::object as_json(const workspace::MergePlan& plan) {
  boost::json::array actions;
  for (const MergeAction& action : plan.actions) {
    boost::json::object one{{"action", workspace::to_string(action.verb)},
                            {"path", path_json(action.path)},
                            {"reason", workspace::to_string(action.reason)}};
    if (!action.copy_path.empty()) one["copy"] = path_json(action.copy_path);
    actions.push_back(std::move(one));
  }
  return {{"actions", std::move(actions)},      {"added", plan.counts.added},    {"updated", plan.counts.updated},
          {"deleted", plan.counts.deleted},     {"modes", plan.counts.modes},    {"kept", plan.counts.kept},
          {"conflicts", plan.counts.conflicts}, {"refused", plan.counts.refused}};
}

}  // namespace

int run_sync_plan(const Invocation& invocation) {
  const auto request = request_from(invocation.arguments);
  if (!request) return failed(invocation, request.error());
  const Services& services = invocation.program.services;
  const auto plan = services.plan_sync(*request, *services.snapshots);
  if (!plan) return failed(invocation, plan.error());
  if (wants_json(invocation.arguments)) {
    invocation.console.out(pretty(as_json(*plan)));
    return kExitSuccess;
  }
  for (const MergeAction& action : plan->actions) invocation.console.out(line_of(action));
  if (plan->actions.empty()) invocation.console.out("nothing to do\n");
  return kExitSuccess;
}

}  // namespace cofferdam::cli
