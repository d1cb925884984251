#include "control/outcome_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>

#include "base/strings.h"
#include "confinement/plan_text.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

namespace json = boost::json;
using domain::Outcome;

constexpr int kWorkspaceFailed = 125;

json::value when(bool applies, json::value value) {
  return applies ? std::move(value) : json::value(nullptr);
}

std::string_view name_of(Outcome::StartError error) {
  switch (error) {
    case Outcome::StartError::kNotFound:
      return "not_found";
    case Outcome::StartError::kNotExecutable:
      return "not_executable";
    case Outcome::StartError::kNone:
    case Outcome::StartError::kSetup:
      return "setup";
  }
  return "setup";
}

Error not_writable(const std::string& path, const std::string& why) {
  return Error(ErrorCode::kInvalidArgument, "The outcome cannot be written to " + path + ": " + why)
      .with_hint("Name a file, new or to be replaced, in a directory that you may write.");
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(printable(text));
}

json::object merge_json(const workspace::MergeCounts& counts) {
  return {{"added", counts.added},         {"updated", counts.updated},
          {"deleted", counts.deleted},     {"modes", counts.modes},
          {"conflicts", counts.conflicts}, {"kept", counts.kept},
          {"refused", counts.refused},     {"left", counts.left}};
}

json::value workspace_json(const WorkspaceReport& report) {
  json::array remarkable;
  for (const workspace::MergeAction& action : report.remarkable) {
    remarkable.push_back(json::object{{"path", printable(action.path)},
                                      {"action", workspace::to_string(action.verb)},
                                      {"reason", workspace::to_string(action.reason)},
                                      {"copy", text_or_null(action.copy_path)}});
  }
  json::array notes;
  for (const std::string& note : report.notes) notes.emplace_back(printable(note));
  json::array branches;
  for (const std::string& branch : report.branches) branches.emplace_back(printable(branch));
  return json::object{{"saved_before", text_or_null(report.saved_before)},
                      {"saved_after", text_or_null(report.saved_after)},
                      {"copied", report.copied},
                      {"kept_copy", text_or_null(report.kept_copy)},
                      {"merge", report.copied ? json::value(merge_json(report.merged)) : json::value(nullptr)},
                      {"remarkable", std::move(remarkable)},
                      {"history", text_or_null(report.history)},
                      {"branches", std::move(branches)},
                      {"notes", std::move(notes)},
                      {"failure", text_or_null(report.failure)}};
}

}  // namespace

int exit_code_of(const RunReport& report) {
  const int own = domain::exit_code_of(report.outcome);
  return own == 0 && report.workspace && !report.workspace->failure.empty() ? kWorkspaceFailed : own;
}

std::string outcome_json(const RunReport& report) {
  const Outcome& outcome = report.outcome;
  const auto is = [&](Outcome::Kind kind) { return outcome.kind == kind; };
  json::object out;
  out["run"] = report.run_id;
  out["kind"] = domain::to_string(outcome.kind);
  out["exit_code"] = exit_code_of(report);
  out["exited"] = when(is(Outcome::Kind::kExited), outcome.value);
  out["signalled"] = when(is(Outcome::Kind::kSignalled) || is(Outcome::Kind::kCancelled), outcome.value);
  out["timed_out"] = is(Outcome::Kind::kTimedOut);
  out["out_of_memory"] = is(Outcome::Kind::kOutOfMemory);
  out["cancelled"] = is(Outcome::Kind::kCancelled);
  out["start_failed"] = when(is(Outcome::Kind::kStartFailed),
                             json::object{{"reason", name_of(outcome.start_error)}, {"message", outcome.message}});
  out["duration_ms"] = outcome.duration.count();
  json::array limits;
  for (const confinement::PlannedLimit& limit : report.limits) {
    json::object entry;
    entry["name"] = limit.name;
    entry["value"] = confinement::number_text(limit.value);
    entry["means"] = confinement::to_string(limit.means);
    entry["requested"] = limit.requested;
    entry["remark"] = limit.remark;
    limits.push_back(std::move(entry));
  }
  out["limits"] = std::move(limits);
  out["memory_limit_hit"] = report.memory_limit_hit;
  json::array unprotected;
  for (const std::string& path : report.unprotected) unprotected.emplace_back(printable(path));
  out["unprotected"] = std::move(unprotected);
  out["workspace"] = report.workspace ? workspace_json(*report.workspace) : json::value(nullptr);
  out["network"] = report.egress ? json::parse(egress::to_json(*report.egress)) : json::value(nullptr);
  return json::serialize(out) + "\n";
}

Status prepare_outcome(const std::string& path) {
  struct stat status{};
  const bool exists = ::lstat(path.c_str(), &status) == 0;
  // Replacing takes away what stands there: a device or a link of the system's must survive.
  if (exists && !S_ISREG(status.st_mode)) return not_writable(path, "it exists and is not a regular file");
  // The old one goes only when a new one can be made beside it.
  if (const Status makes = system::can_make_beside(path); !makes) return not_writable(path, makes.error().message());
  if (exists && ::unlink(path.c_str()) != 0 && errno != ENOENT) return not_writable(path, "it cannot be replaced");
  return {};
}

Status write_outcome(const std::string& path, const RunReport& report) {
  return in_context(system::replace_file(path, outcome_json(report), 0644), "write the outcome");
}

}  // namespace cofferdam::control
