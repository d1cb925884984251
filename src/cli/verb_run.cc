#include "base/strings.h"
#include "cli/policy_options.h"
#include "cli/prefer.h"
#include "cli/snapshot_text.h"
#include "cli/verb.h"
#include "control/outcome_file.h"

namespace cofferdam::cli {
namespace {

class ConsoleMessages : public control::Messages {
 public:
  ConsoleMessages(Console& console, bool quiet) : console_(console), quiet_(quiet) {}
  void note(std::string_view line) override {
    if (quiet_) return;
    // Paperclip recognises its own lines by their first word.
    const std::string_view prefix = line.starts_with("[paperclip] ") ? "" : "cofferdam: ";
    console_.err(std::string(prefix) + printable(line) + "\n");
  }
  void failure(const Error& error) override { report(console_, error); }

 private:
  Console& console_;
  bool quiet_;
};

control::WorkspaceOptions workspace_options(const Arguments& arguments) {
  return {.save = arguments.has("save"),
          .copy = arguments.has("copy"),
          .keep_copy = arguments.has("keep"),
          .prefer = preferred(arguments.value("prefer")),
          .company = company_of(arguments)};
}

Status check_workspace_flags(const Arguments& arguments) {
  for (const std::string_view flag : {"keep", "prefer"}) {
    if (!arguments.has(flag) || arguments.has("copy")) continue;
    return Error(ErrorCode::kInvalidArgument, "--" + std::string(flag) + " means nothing without --copy");
  }
  if (!arguments.has("company") || arguments.has("save")) return {};
  return Error(ErrorCode::kInvalidArgument, "--company means nothing without --save");
}

}  // namespace

int run_run(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  auto resolved = policy_from_flags(arguments);
  if (!resolved) {
    // An outcome of an earlier run must not be read as this one's.
    if (arguments.has("outcome")) (void)control::prepare_outcome(std::string(arguments.value("outcome")));
    for (const Error& error : resolved.error()) report(invocation.console, error);
    return kExitUsage;
  }
  if (const Status flags = check_workspace_flags(arguments); !flags) {
    report(invocation.console, flags.error());
    return kExitUsage;
  }
  ConsoleMessages messages(invocation.console, arguments.has("quiet"));
  for (const std::string& note : resolved->notes) messages.note(note);
  const control::LocalRunRequest request{.policy = std::move(resolved->policy),
                                         .command = arguments.command,
                                         .outcome_file = std::string(arguments.value("outcome")),
                                         .substitutions = {}};
  const Services& services = invocation.program.services;
  if (!arguments.has("save") && !arguments.has("copy")) {
    return domain::exit_code_of(services.run_local(request, messages));
  }
  return control::exit_code_of(
      services.run_with_workspace(request, workspace_options(arguments), *services.snapshots, messages));
}

}  // namespace cofferdam::cli
