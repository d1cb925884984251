#include <unistd.h>

#include <cstdlib>

#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"
#include "domain/path.h"
#include "domain/quantity.h"

namespace cofferdam::cli {
namespace {

constexpr int kHighestLevel = 19;
constexpr int kUsualLevel = 3;

Result<int> level_of(const Arguments& arguments) {
  if (!arguments.has("level")) return kUsualLevel;
  const auto level = domain::parse_count(arguments.value("level"));
  if (level && *level <= kHighestLevel) return static_cast<int>(*level);
  return Error(ErrorCode::kInvalidArgument,
               "--level: \"" + std::string(arguments.value("level")) + "\" is no number from 1 to 19");
}

// "./a//b/" is "a/b"; a path that leaves the directory is refused.
Result<std::vector<std::string>> exclusions(const Arguments& arguments) {
  std::vector<std::string> out;
  for (const std::string& written : arguments.all("exclude")) {
    const auto normal = domain::normalized_absolute("/" + written);
    const bool leaves = written.starts_with('/') || contains_parent_step(written);
    if (leaves || !normal || *normal == "/") {
      return Error(ErrorCode::kInvalidArgument, "--exclude: \"" + written + "\" is no path below the directory")
          .with_hint("Paths to leave out are written relative to the directory: --exclude build");
    }
    out.push_back(normal->substr(1));
  }
  return out;
}

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

boost::json::object as_json(const control::SaveReport& saved) {
  const snapshot::CaptureReport& report = saved.capture;
  boost::json::array unsettled;
  for (const std::string& path : report.unsettled) unsettled.push_back(path_json(path));
  boost::json::array stripped;
  for (const std::string& path : report.stripped_modes) stripped.push_back(path_json(path));
  return {{"id", report.snapshot},
          {"fingerprint", report.fingerprint.hex()},
          {"files", report.files},
          {"directories", report.directories},
          {"links", report.links},
          {"bytes", report.bytes},
          {"readFiles", report.read_files},
          {"newChunks", report.new_chunks},
          {"newBytes", report.new_bytes},
          {"storedBytes", report.stored_bytes},
          {"omitted", omissions_json(report.omissions)},
          {"strippedModes", std::move(stripped)},
          {"unsettled", std::move(unsettled)},
          {"keyIsNew", saved.key_is_new}};
}

std::string as_text(const control::SaveReport& saved) {
  const snapshot::CaptureReport& report = saved.capture;
  return report.snapshot + "\n" + std::to_string(report.files) + " files, " + std::to_string(report.directories) +
         " directories, " + std::to_string(report.links) + " links: " + size_text(report.bytes) +
         "; new: " + size_text(report.new_bytes) + ", stored as " + size_text(report.stored_bytes) + "\n" +
         omissions_text(report.omissions);
}

void warn(Console& console, const control::SaveReport& saved) {
  for (const std::string& path : saved.capture.stripped_modes) {
    console.err("cofferdam: " + printable(path) + ": its set-id or sticky bit is not saved\n");
  }
  for (const std::string& path : saved.capture.unsettled) {
    console.err("cofferdam: " + printable(path) + " changed while it was saved\n");
  }
  if (!saved.key_is_new) return;
  console.err("cofferdam: a new key was made in " + printable(saved.key_origin) +
              ". Without it nothing that is saved can be read:\n"
              "  keep a copy elsewhere: cofferdam key export > FILE\n");
}

}  // namespace

int run_snapshot_save(const Invocation& invocation) {
  auto request = request_from(invocation.arguments);
  if (!request) return failed(invocation, request.error());
  ConsoleProgress progress(invocation.console, errors_go_to_terminal(), invocation.arguments.has("quiet"), "to store");
  request->progress = &progress;
  const auto saved = invocation.program.services.snapshots->save(*request);
  if (!saved) return failed(invocation, saved.error());
  warn(invocation.console, *saved);
  invocation.console.out(wants_json(invocation.arguments) ? pretty(as_json(*saved)) : as_text(*saved));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
