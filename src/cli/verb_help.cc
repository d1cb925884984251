#include "base/ranges.h"
#include "base/strings.h"
#include "cli/help.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_help(const Invocation& invocation) {
  const std::string name = join(invocation.arguments.positionals, " ");
  if (name.empty()) {
    invocation.console.out(program_help());
  } else if (contains(verb_groups(), name)) {
    invocation.console.out(group_help(name));
  } else if (const Verb* verb = find_verb(name)) {
    invocation.console.out(verb_help(*verb));
  } else {
    report(invocation.console, no_such_verb(name));
    return kExitUsage;
  }
  return kExitSuccess;
}

}  // namespace cofferdam::cli
