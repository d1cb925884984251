#include "cli/help.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_help(const Invocation& invocation) {
  const auto& positionals = invocation.arguments.positionals;
  const Verb* verb = positionals.empty() ? nullptr : find_verb(positionals.front());
  if (verb == nullptr && !positionals.empty()) {
    report(invocation.console, Error(ErrorCode::kInvalidArgument, "there is no verb \"" + positionals.front() + "\"")
                                   .with_hint("\"cofferdam help\" lists them."));
    return kExitUsage;
  }
  invocation.console.out(verb == nullptr ? program_help() : verb_help(*verb));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
