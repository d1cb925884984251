#include "cli/man_page.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_man(const Invocation& invocation) {
  if (invocation.arguments.has("list")) {
    for (const Verb& verb : verbs()) invocation.console.out(std::string(verb.name) + "\n");
    return kExitSuccess;
  }
  const auto& positionals = invocation.arguments.positionals;
  if (positionals.empty()) {
    invocation.console.out(program_man_page(invocation.program.version));
    return kExitSuccess;
  }
  const Verb* verb = find_verb(positionals.front());
  if (verb == nullptr) {
    report(invocation.console, Error(ErrorCode::kInvalidArgument, "there is no verb \"" + positionals.front() + "\"")
                                   .with_hint("\"cofferdam help\" lists them."));
    return kExitUsage;
  }
  invocation.console.out(verb_man_page(*verb, invocation.program.version));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
