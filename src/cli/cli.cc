#include "cli/cli.h"

#include "base/strings.h"
#include "cli/arguments.h"
#include "cli/help.h"
#include "cli/verb.h"
#include "domain/suggestion.h"

namespace cofferdam::cli {
namespace {

Error unknown_verb(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string_view nearest = domain::nearest_word(word, names);
  const bool option = word.starts_with('-');
  return Error(ErrorCode::kInvalidArgument, (option ? "unknown option " : "there is no verb ") + ("\"" + word + "\""))
      .with_hint(nearest.empty() || option
                     ? "\"cofferdam --help\" lists the verbs; to run a command: cofferdam run -- COMMAND"
                     : "Did you mean \"" + std::string(nearest) + "\"?");
}

// Docker-like spellings of two verbs.
std::string verb_name(const std::string& word) {
  if (word == "--help" || word == "-h") return "help";
  if (word == "--version") return "version";
  return word;
}

}  // namespace

int run_program(const Program& program, const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    console.err(program_help());
    return kExitUsage;
  }
  const Verb* verb = find_verb(verb_name(arguments.front()));
  if (verb == nullptr) {
    report(console, unknown_verb(arguments.front()));
    return kExitUsage;
  }
  const auto parsed = parse_arguments(*verb, {arguments.begin() + 1, arguments.end()});
  if (!parsed) {
    report(console, parsed.error());
    return kExitUsage;
  }
  if (parsed->has("help")) {
    console.out(verb_help(*verb));
    return kExitSuccess;
  }
  return verb->run({program, console, *parsed});
}

}  // namespace cofferdam::cli
