#include "base/strings.h"
#include "cli/policy_options.h"
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
  ConsoleMessages messages(invocation.console, arguments.has("quiet"));
  for (const std::string& note : resolved->notes) messages.note(note);
  const control::LocalRunRequest request{.policy = std::move(resolved->policy),
                                         .command = arguments.command,
                                         .outcome_file = std::string(arguments.value("outcome"))};
  return domain::exit_code_of(invocation.program.services.run_local(request, messages));
}

}  // namespace cofferdam::cli
