#include <unistd.h>

#include <cstdlib>

#include "cli/json_text.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/save_text.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"

namespace cofferdam::cli {
namespace {

Result<control::SaveRequest> request_from(const Arguments& arguments) {
  control::SaveRequest request;
  request.company = company_of(arguments);
  request.label = arguments.value("label");
  request.with_dependencies = arguments.has("with-dependencies");
  request.must_hold_still = arguments.has("still");
  ASSIGN_OR_RETURN(request.level, level_of(arguments));
  ASSIGN_OR_RETURN(request.exclude, exclusions(arguments));
  ASSIGN_OR_RETURN(request.directory,
                   absolute_path(arguments.positionals.empty() ? "." : arguments.positionals.front()));
  return request;
}

}  // namespace

int run_snapshot_save(const Invocation& invocation) {
  auto request = request_from(invocation.arguments);
  if (!request) return failed(invocation, request.error());
  ConsoleProgress progress(invocation.console, errors_go_to_terminal(), invocation.arguments.has("quiet"), "to store");
  request->progress = &progress;
  const auto saved = invocation.program.services.snapshots->save(*request);
  if (!saved) return failed(invocation, saved.error());
  warn_of_capture(invocation.console, saved->capture);
  if (saved->key_is_new) warn_of_new_key(invocation.console, saved->key_origin);
  boost::json::object json = capture_json(saved->capture);
  json.emplace("keyIsNew", saved->key_is_new);
  invocation.console.out(wants_json(invocation.arguments) ? pretty(json) : capture_text(saved->capture));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
