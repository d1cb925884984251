#include "base/strings.h"
#include "cli/man_page.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_man(const Invocation& invocation) {
  if (invocation.arguments.has("list")) {
    for (const Verb& verb : verbs()) invocation.console.out(hyphenated(verb.name) + "\n");
    return kExitSuccess;
  }
  const auto& positionals = invocation.arguments.positionals;
  if (positionals.empty()) {
    invocation.console.out(program_man_page(invocation.program.version));
    return kExitSuccess;
  }
  const Verb* verb = find_verb(join(positionals, " "));
  if (verb == nullptr) {
    report(invocation.console, no_such_verb(join(positionals, " ")));
    return kExitUsage;
  }
  invocation.console.out(verb_man_page(*verb, invocation.program.version));
  return kExitSuccess;
}

}  // namespace cofferdam::cli
