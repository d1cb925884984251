#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/save_text.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"
#include "domain/path.h"

namespace cofferdam::cli {
namespace {

Result<control::RecoverRequest> request_from(const Arguments& arguments) {
  const std::string& written = arguments.positionals.front();
  const auto directory = domain::normalized_absolute(written);
  if (!directory || *directory == "/") {
    return Error(ErrorCode::kInvalidArgument, "\"" + written + "\" is no absolute path of a directory in the sandbox")
        .with_hint("Only the sandbox knows what a relative path is relative to: write it from the root, /work");
  }
  control::RecoverRequest request;
  request.company = company_of(arguments);
  request.workspace = arguments.value("workspace");
  request.label = arguments.value("label");
  request.directory = *directory;
  request.prefix = arguments.command;
  request.with_dependencies = arguments.has("with-dependencies");
  ASSIGN_OR_RETURN(request.exclude, exclusions(arguments));
  ASSIGN_OR_RETURN(request.level, level_of(arguments));
  return request;
}

boost::json::object as_json(const control::RecoverReport& report) {
  const recovery::Recovered& recovered = report.recovered;
  boost::json::array links;
  for (const std::string& path : recovered.leading_links) links.push_back(path_json(path));
  boost::json::object json = capture_json(recovered.capture);
  json.emplace("keyIsNew", report.key_is_new);
  json.emplace("workspace", report.workspace);
  json.emplace("road", recovered.road == recovery::Road::kPortable ? "portable" : "controller");
  json.emplace("diskFull", recovered.disk_full);
  json.emplace("leadingLinks", std::move(links));
  return json;
}

void warn(Console& console, const control::RecoverReport& report) {
  const recovery::Recovered& recovered = report.recovered;
  if (recovered.road == recovery::Road::kController) {
    console.err("cofferdam: saved from this side; the archive in the sandbox met " + printable(recovered.disk_full) +
                "\n");
  }
  for (const std::string& path : recovered.leading_links) {
    console.err("cofferdam: " + printable(path) + " leads out of the workspace and is not saved\n");
  }
  for (const std::string& note : recovered.notes) console.err("cofferdam: " + note + "\n");
  warn_of_capture(console, recovered.capture);
  if (report.key_is_new) warn_of_new_key(console, report.key_origin);
}

}  // namespace

int run_snapshot_recover(const Invocation& invocation) {
  auto request = request_from(invocation.arguments);
  if (!request) return failed(invocation, request.error());
  ConsoleProgress progress(invocation.console, errors_go_to_terminal(), invocation.arguments.has("quiet"), "to store");
  request->progress = &progress;
  const auto report = invocation.program.services.snapshots->recover(*request);
  if (!report) return failed(invocation, report.error());
  warn(invocation.console, *report);
  invocation.console.out(wants_json(invocation.arguments) ? pretty(as_json(*report))
                                                          : capture_text(report->recovered.capture));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
