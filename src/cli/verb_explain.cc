#include "base/strings.h"
#include "cli/policy_options.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_explain(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto resolved = policy_from_flags(arguments);
  if (!resolved) {
    for (const Error& error : resolved.error()) report(invocation.console, error);
    return kExitUsage;
  }
  for (const std::string& note : resolved->notes) {
    if (!arguments.has("quiet")) invocation.console.err("cofferdam: " + printable(note) + "\n");
  }
  const auto format =
      arguments.value("output") == "json" ? control::ExplainFormat::kJson : control::ExplainFormat::kText;
  const auto text = invocation.program.services.explain_local(resolved->policy, arguments.command, format);
  if (!text) {
    report(invocation.console, text.error());
    return kExitOwnFailure;
  }
  invocation.console.out(*text);
  if (!text->ends_with('\n')) invocation.console.out("\n");
  return kExitSuccess;
}

}  // namespace cofferdam::cli
