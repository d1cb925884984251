// The verbs that take snapshots away.
#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"
#include "control/workspace_name.h"
#include "domain/quantity.h"

namespace cofferdam::cli {
namespace {

constexpr std::size_t kMostKept = 1'000'000;

Status read_count(const Arguments& arguments, std::string_view option, std::size_t& count) {
  if (!arguments.has(option)) return {};
  const auto value = domain::parse_count(arguments.value(option));
  if (!value || *value > kMostKept) {
    return Error(ErrorCode::kInvalidArgument, "--" + std::string(option) + ": \"" +
                                                  std::string(arguments.value(option)) +
                                                  "\" is no whole number above zero");
  }
  count = *value;
  return {};
}

Result<snapshot::RetentionPolicy> policy_from(const Arguments& arguments) {
  snapshot::RetentionPolicy policy;
  RETURN_IF_ERROR(read_count(arguments, "keep-last", policy.last));
  RETURN_IF_ERROR(read_count(arguments, "keep-hourly", policy.hourly));
  RETURN_IF_ERROR(read_count(arguments, "keep-daily", policy.daily));
  RETURN_IF_ERROR(read_count(arguments, "keep-weekly", policy.weekly));
  RETURN_IF_ERROR(read_count(arguments, "keep-monthly", policy.monthly));
  RETURN_IF_ERROR(read_count(arguments, "keep-yearly", policy.yearly));
  if (!policy.keeps_nothing()) return policy;
  return Error(ErrorCode::kInvalidArgument, "nothing says what to keep")
      .with_hint(
          "Give at least one rule, such as --keep-last 5. To delete single snapshots: cofferdam snapshot delete.");
}

boost::json::array ids(const std::vector<store::SnapshotRecord>& records) {
  boost::json::array out;
  for (const store::SnapshotRecord& record : records) out.push_back(boost::json::string(record.id));
  return out;
}

int show(const Invocation& invocation, const control::RemovalReport& report, bool dry_run) {
  if (wants_json(invocation.arguments)) {
    invocation.console.out(pretty(boost::json::object{{"dryRun", dry_run},
                                                      {"kept", ids(report.kept)},
                                                      {"removed", ids(report.removed)},
                                                      {"freedBytes", report.collected.bytes},
                                                      {"removedPacks", report.collected.packs}}));
  } else if (dry_run) {
    for (const store::SnapshotRecord& record : report.removed) {
      invocation.console.out("would delete " + record.id + "  " + time_text(record.created_ms) + "  " +
                             printable(record.workspace) + "\n");
    }
  } else {
    invocation.console.out(removal_text(report.removed, report.collected));
  }
  return kExitSuccess;
}

}  // namespace

int run_snapshot_delete(const Invocation& invocation) {
  const auto report =
      invocation.program.services.snapshots->remove(company_of(invocation.arguments), invocation.arguments.positionals);
  if (!report) return failed(invocation, report.error());
  return show(invocation, *report, false);
}

int run_snapshot_prune(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto policy = policy_from(arguments);
  if (!policy) return failed(invocation, policy.error());
  std::string workspace;
  if (arguments.has("workspace")) {
    auto name = control::workspace_name(std::string(arguments.value("workspace")));
    if (!name) return failed(invocation, name.error());
    workspace = std::move(*name);
  }
  const bool dry_run = arguments.has("dry-run");
  const auto report = invocation.program.services.snapshots->prune(company_of(arguments), workspace, *policy, dry_run);
  if (!report) return failed(invocation, report.error());
  return show(invocation, *report, dry_run);
}

}  // namespace cofferdam::cli
