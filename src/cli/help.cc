#include "cli/help.h"

#include <algorithm>

#include "base/strings.h"
#include "cli/layout.h"
#include "cli/program_text.h"

namespace cofferdam::cli {
namespace {

constexpr std::size_t kOptionColumn = 34;  // where the explanations start
constexpr std::size_t kVerbColumn = 22;

// "  HEADING   text", the text wrapped in its column; on the next line when the heading is too long.
std::string entry(std::string_view heading, std::string_view text, std::size_t column) {
  std::string line = "  " + std::string(heading);
  if (line.size() + 2 > column) {
    line += "\n" + std::string(column, ' ');
  } else {
    line += std::string(column - line.size(), ' ');
  }
  return line + wrapped(text, column) + "\n";
}

std::string option_sections(const Verb& verb) {
  std::string out;
  std::string_view section;
  for (const OptionSpec& option : options_of(verb)) {
    if (option.section != section) out += "\n" + std::string(option.section) + ":\n";
    section = option.section;
    out += entry(option_heading(option), option.help, kOptionColumn);
  }
  return out;
}

// "  CODE  meaning" and "  COMMAND" + its explanation stand in the table as lines.
std::string indented_lines(std::string_view lines) {
  std::string out;
  for (const std::string_view line : split(lines, '\n')) out += "  " + std::string(line) + "\n";
  return out;
}

}  // namespace

std::string option_heading(const OptionSpec& option) {
  std::string out = option.short_name != 0 ? std::string("-") + option.short_name + ", " : "";
  out += "--" + std::string(option.name);
  if (!option.value_name.empty()) out += " " + std::string(option.value_name);
  return out;
}

std::string program_help() {
  std::string out = "Usage: cofferdam VERB [FLAGS] [-- COMMAND [ARGUMENTS…]]\n\n";
  out += "Runs commands of AI agents, or any command, confined to a workspace and to the hosts it was allowed.\n\n";
  out += "Verbs:\n";
  for (const Verb& verb : verbs()) out += entry(verb.name, verb.summary, kVerbColumn);
  out += "\nExamples:\n" + indented_lines(kProgramExamples);
  out += "\n\"cofferdam VERB --help\" explains a verb; \"man cofferdam-VERB\" is the same as a page.\n";
  return out;
}

std::string group_help(std::string_view group) {
  std::string out = "Usage: cofferdam " + std::string(group) + " VERB [FLAGS] [ARGUMENTS…]\n\nVerbs:\n";
  for (const Verb& verb : verbs()) {
    if (group_of(verb) == group) out += entry(verb.name, verb.summary, kVerbColumn);
  }
  return out + "\n\"cofferdam " + std::string(group) + " VERB --help\" explains a verb.\n";
}

std::string verb_help(const Verb& verb) {
  std::string out = "Usage: cofferdam " + std::string(verb.name);
  if (!verb.synopsis.empty()) out += " " + std::string(verb.synopsis);
  out += "\n\n" + wrapped(verb.description, 0) + "\n";
  if (!verb.positionals.empty()) out += "\nArguments:\n";
  for (const PositionalSpec& spec : verb.positionals) out += entry(spec.name, spec.help, kOptionColumn);
  out += option_sections(verb);
  out += "\nExamples:\n" + indented_lines(verb.examples);
  out += "\nExit codes:\n" + indented_lines(verb.exit_codes);
  return out;
}

}  // namespace cofferdam::cli
