#include "cli/cli.h"

#include "base/ranges.h"
#include "base/strings.h"
#include "cli/arguments.h"
#include "cli/help.h"
#include "cli/verb.h"
#include "domain/suggestion.h"

namespace cofferdam::cli {
namespace {

Error unknown_verb(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(group_of(verb).empty() ? verb.name : group_of(verb));
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

// The verb and how many words named it; no verb when it is not known.
struct NamedVerb {
  const Verb* verb = nullptr;
  std::ptrdiff_t words = 1;
};

NamedVerb named_verb(const std::vector<std::string>& arguments) {
  if (contains(verb_groups(), arguments.front())) {
    return {arguments.size() < 2 ? nullptr : find_verb(arguments[0] + " " + arguments[1]), 2};
  }
  const Verb* verb = find_verb(verb_name(arguments.front()));
  return {verb != nullptr && group_of(*verb).empty() ? verb : nullptr, 1};
}

// A group without a verb of it: its help when that was asked for.
int answer_group(const std::vector<std::string>& arguments, Console& console) {
  const std::string& group = arguments.front();
  if (arguments.size() < 2) {
    console.err(group_help(group));
    return kExitUsage;
  }
  if (arguments[1] == "--help" || arguments[1] == "-h") {
    console.out(group_help(group));
    return kExitSuccess;
  }
  report(console, Error(ErrorCode::kInvalidArgument, "there is no verb \"" + group + " " + arguments[1] + "\"")
                      .with_hint("\"cofferdam " + group + " --help\" lists its verbs."));
  return kExitUsage;
}

bool needs_engine(const Verb& verb, const Arguments& arguments) {
  return verb.needs_engine || arguments.has("save") || arguments.has("copy");
}

}  // namespace

int run_program(const Program& program, const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    console.err(program_help());
    return kExitUsage;
  }
  const auto [verb, words] = named_verb(arguments);
  if (verb == nullptr) {
    if (words == 2) return answer_group(arguments, console);
    report(console, unknown_verb(arguments.front()));
    return kExitUsage;
  }
  const auto parsed = parse_arguments(*verb, {arguments.begin() + words, arguments.end()});
  if (!parsed) {
    report(console, parsed.error());
    return kExitUsage;
  }
  if (parsed->has("help")) {
    console.out(verb_help(*verb));
    return kExitSuccess;
  }
  if (program.services.snapshots == nullptr && needs_engine(*verb, *parsed)) {
    report(console, program.services.become_engine());  // returns only when it failed
    return kExitOwnFailure;
  }
  return verb->run({program, console, *parsed});
}

}  // namespace cofferdam::cli
