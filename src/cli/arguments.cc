#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/suggestion.h"

namespace cofferdam::cli {
namespace {

constexpr std::size_t kMostPositionals = 10'000;

Error usage(std::string message, std::string hint) {
  return Error(ErrorCode::kInvalidArgument, std::move(message)).with_hint(std::move(hint));
}

std::string help_hint(const Verb& verb) {
  return "\"cofferdam " + std::string(verb.name) + " --help\" explains it.";
}

std::string flag_of(const OptionSpec& spec) {
  std::string names = "--" + std::string(spec.name);
  if (spec.short_name != 0) names = std::string("-") + spec.short_name + "," + names;
  return names;
}

CLI::Option* declare(CLI::App& app, const OptionSpec& spec) {
  const auto accept = [](const CLI::results_t&) { return true; };
  CLI::Option* option = app.add_option(flag_of(spec), accept);
  option->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (spec.value_name.empty()) option->type_size(0)->expected(0)->disable_flag_override();
  return option;
}

// CLI11 compares each new option with all earlier ones: declaring only those that can be meant saves most of the time
// that `run` spends on its command line.
bool is_mentioned(const OptionSpec& spec, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (!word.starts_with("--")) return spec.short_name != 0 && word.starts_with('-');
    return word.substr(2, word.find('=') - 2) == spec.name;
  });
}

Error unknown_option(const Verb& verb, std::string_view word) {
  const std::vector<OptionSpec> specs = options_of(verb);
  std::vector<std::string_view> names;
  for (const OptionSpec& spec : specs) names.push_back(spec.name);
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const std::string_view nearest = domain::nearest_word(name.substr(0, name.find('=')), names);
  std::string hint = nearest.empty() ? help_hint(verb) : "Did you mean --" + std::string(nearest) + "?";
  return usage("unknown option " + std::string(word.substr(0, word.find('='))), std::move(hint));
}

Error unexpected_word(const Verb& verb, std::string_view word) {
  if (!verb.takes_command) return usage("unexpected argument \"" + std::string(word) + "\"", help_hint(verb));
  return usage("\"" + std::string(word) + "\" stands before \"--\"", "Write \"--\" before the command: cofferdam " +
                                                                         std::string(verb.name) + " [FLAGS] -- " +
                                                                         shell_quoted(word) + " …");
}

std::size_t most_positionals(const Verb& verb) {
  const bool open_ended = !verb.positionals.empty() && verb.positionals.back().repeatable;
  return open_ended ? kMostPositionals : verb.positionals.size();
}

Status check_positionals(const Verb& verb, const Arguments& arguments) {
  for (std::size_t i = 0; i < verb.positionals.size(); ++i) {
    const PositionalSpec& spec = verb.positionals[i];
    if (i >= arguments.positionals.size()) {
      if (spec.required) return usage("missing argument " + std::string(spec.name), help_hint(verb));
      continue;
    }
    const std::string& word = arguments.positionals[i];
    if (spec.words.empty() || contains(split(spec.words, '|'), word)) continue;
    return usage("\"" + word + "\" is not one of " + std::string(spec.words), help_hint(verb));
  }
  return {};
}

Status place_rest(const Verb& verb, const std::vector<std::string>& rest, Arguments& arguments) {
  for (const std::string& word : rest) {
    if (word.size() > 1 && word.starts_with('-')) return unknown_option(verb, word);
    if (arguments.positionals.size() >= most_positionals(verb)) return unexpected_word(verb, word);
    arguments.positionals.push_back(word);
  }
  return {};
}

Status check_complete(const Verb& verb, const Arguments& arguments, bool separator) {
  if (arguments.has("help")) return {};
  if (verb.takes_command && arguments.command.empty()) {
    return usage(separator ? "no command after \"--\"" : "no command given",
                 "Write it after \"--\": cofferdam " + std::string(verb.name) + " [FLAGS] -- COMMAND [ARGUMENTS…]");
  }
  if (!verb.takes_command && separator) return usage("\"--\" is not expected here", help_hint(verb));
  return check_positionals(verb, arguments);
}

// Values of the verb's own word options; the policy's are checked where they are read.
Status check_words(const Verb& verb, const Arguments& arguments) {
  for (const OptionSpec& spec : verb.options) {
    if (spec.completion != Completion::kWords) continue;
    const std::vector<std::string_view> known = split(spec.value_name, '|');
    for (const Arguments::Value& value : arguments.values) {
      if (value.option != spec.name || std::ranges::find(known, value.text) != known.end()) continue;
      return usage("--" + value.option + ": \"" + value.text + "\" is not one of " + std::string(spec.value_name),
                   help_hint(verb));
    }
  }
  return {};
}

Error readable(const Verb& verb, const CLI::ParseError& error, const std::vector<OptionSpec>& specs) {
  const std::string text = error.what();
  for (const OptionSpec& spec : specs) {
    const std::string name = "--" + std::string(spec.name);
    const bool value_for_switch = text.starts_with(std::string(spec.name) + " was given");
    if (!value_for_switch && !text.starts_with(name + ":") && !text.starts_with(name + " ")) continue;
    if (spec.value_name.empty()) return usage(name + " takes no value", help_hint(verb));
    return usage(name + " needs a value: " + name + " " + std::string(spec.value_name), help_hint(verb));
  }
  return usage(text, help_hint(verb));
}

}  // namespace

Result<Arguments> parse_arguments(const Verb& verb, const std::vector<std::string>& words) {
  const auto separator = std::ranges::find(words, "--");
  Arguments arguments;
  if (separator != words.end()) arguments.command.assign(separator + 1, words.end());

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<OptionSpec> specs = options_of(verb);
  std::erase_if(specs, [&](const OptionSpec& spec) { return !is_mentioned(spec, words); });
  std::vector<CLI::Option*> options;
  options.reserve(specs.size());
  for (const OptionSpec& spec : specs) options.push_back(declare(app, spec));
  try {
    app.parse(std::vector<std::string>(std::make_reverse_iterator(separator), words.rend()));
  } catch (const CLI::ParseError& error) {
    return readable(verb, error, specs);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (const std::string& text : options[i]->results()) {
      arguments.values.push_back({std::string(specs[i].name), specs[i].value_name.empty() ? "" : text});
    }
  }
  if (!arguments.has("help")) RETURN_IF_ERROR(place_rest(verb, app.remaining(), arguments));
  RETURN_IF_ERROR(check_words(verb, arguments));
  RETURN_IF_ERROR(check_complete(verb, arguments, separator != words.end()));
  return arguments;
}

}  // namespace cofferdam::cli
