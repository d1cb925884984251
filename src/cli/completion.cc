#include "cli/completion.h"

#include <string_view>
#include <vector>

#include "base/strings.h"
#include "cli/verb.h"
#include "domain/profile.h"

namespace cofferdam::cli {
namespace {

constexpr std::string_view kVerbSwitches = "--help --version";

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) {
    if (c == from) {
      out += to;
    } else {
      out += c;
    }
  }
  return out;
}

std::string profile_words() {
  std::string out;
  for (const domain::Profile& profile : domain::profiles()) {
    out += (out.empty() ? "" : " ") + std::string(profile.name);
  }
  return out;
}

// The words a value may be, separated by spaces; empty when it is no closed list.
std::string words_of(const OptionSpec& option) {
  if (option.completion == Completion::kProfile) return profile_words();
  if (option.completion == Completion::kWords) return replaced(option.value_name, '|', " ");
  return {};
}

// What may follow "cofferdam": verbs without a group, and the groups.
std::string first_words() {
  std::string out;
  for (const Verb& verb : verbs()) {
    if (group_of(verb).empty()) out += (out.empty() ? "" : " ") + std::string(verb.name);
  }
  for (const std::string_view group : verb_groups()) out += " " + std::string(group);
  return out;
}

// The verb's name without its group.
std::string_view last_word(const Verb& verb) {
  return verb.name.substr(verb.name.rfind(' ') + 1);
}

// The verbs of a group.
std::string words_in_group(std::string_view group) {
  std::string out;
  for (const Verb& verb : verbs()) {
    if (group_of(verb) == group) out += (out.empty() ? "" : " ") + std::string(last_word(verb));
  }
  return out;
}

std::string words_of(const PositionalSpec& positional) {
  if (positional.name == "VERB") {
    return first_words();
  }
  return replaced(positional.words, '|', " ");
}

// The first sentence: what fits beside a completion.
std::string_view brief(std::string_view help) {
  const std::size_t end = help.find(". ");
  help = help.substr(0, end);
  if (help.ends_with('.')) help.remove_suffix(1);
  return help;
}

// ----------------------------------------------------------------------------------------------------------- bash

std::string bash_action(const std::string& words, Completion completion) {
  if (!words.empty()) return "_cofferdam_reply -W '" + words + "'";
  switch (completion) {
    case Completion::kDirectory:
      return "compopt -o filenames; _cofferdam_reply -d";
    case Completion::kFile:
    case Completion::kPath:
      return "compopt -o filenames; _cofferdam_reply -f";
    case Completion::kNone:
    case Completion::kWords:
    case Completion::kProfile:
      break;
  }
  return ":";
}

std::string bash_values(const Verb& verb) {
  std::string out;
  for (const OptionSpec& option : options_of(verb)) {
    if (option.value_name.empty()) continue;
    const std::string name = hyphenated(verb.name);
    std::string pattern = name + ":--" + std::string(option.name);
    if (option.short_name != 0) pattern += "|" + name + ":-" + option.short_name;
    out += "    " + pattern + ") " + bash_action(words_of(option), option.completion) + "; return ;;\n";
  }
  return out;
}

std::string bash_words(const Verb& verb) {
  std::string words;
  for (const OptionSpec& option : options_of(verb)) words += "--" + std::string(option.name) + " ";
  if (verb.takes_command) words += "-- ";
  std::string out = "    " + hyphenated(verb.name) + ")\n      if [[ $cur == -* ]]; then _cofferdam_reply -W '" +
                    std::string(trimmed(words)) + "'";
  if (!verb.positionals.empty()) {
    const PositionalSpec& last = verb.positionals.back();
    out += "; else " + bash_action(words_of(last), last.completion);
  }
  return out + "; fi ;;\n";
}

// "snapshot save" is looked up as one word.
std::string bash_groups() {
  std::string out = "  case $verb in\n";
  for (const std::string_view group : verb_groups()) {
    const std::string name(group);
    out += "    " + name + ")\n      if ((COMP_CWORD == 2)); then _cofferdam_reply -W '" + words_in_group(group) +
           "'; return; fi\n      verb=" + name + "-${COMP_WORDS[2]} ;;\n";
  }
  return out + "  esac\n";
}

// ------------------------------------------------------------------------------------------------------------ zsh

// Inside single quotes, in a place where zsh reads brackets and colons.
std::string zsh_text(std::string_view text) {
  std::string out = replaced(text, '\\', "\\\\");
  for (const char special : {'[', ']', ':'}) out = replaced(out, special, std::string("\\") + special);
  return replaced(out, '\'', "'\\''");
}

std::string zsh_action(const std::string& words, Completion completion) {
  if (!words.empty()) return "(" + words + ")";
  switch (completion) {
    case Completion::kDirectory:
      return "_files -/";
    case Completion::kFile:
    case Completion::kPath:
      return "_files";
    case Completion::kNone:
    case Completion::kWords:
    case Completion::kProfile:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionSpec& option) {
  const std::string text = "[" + zsh_text(brief(option.help)) + "]";
  std::string value;
  if (!option.value_name.empty())
    value = ":" + zsh_text(option.value_name) + ":" + zsh_action(words_of(option), option.completion);
  const std::string repeat = option.repeatable ? "*" : "";
  const std::string name(option.name);
  std::string out = "        '" + repeat + "--" + name + (value.empty() ? "" : "=") + text + value + "' \\\n";
  if (option.short_name != 0) out += "        '" + repeat + "-" + option.short_name + text + value + "' \\\n";
  return out;
}

std::string zsh_verb(const Verb& verb) {
  std::string out = "    " + hyphenated(verb.name) + ")\n";
  if (verb.takes_command) {
    // What follows `--` is a command line of its own.
    out +=
        "      local -i dashes=${words[(i)--]}\n"
        "      if (( dashes < CURRENT )); then\n"
        "        shift dashes words; (( CURRENT -= dashes )); _normal; return\n"
        "      fi\n";
  }
  out += "      _arguments -S \\\n";
  for (const OptionSpec& option : options_of(verb)) out += zsh_option(option);
  for (std::size_t i = 0; i < verb.positionals.size(); ++i) {
    const PositionalSpec& spec = verb.positionals[i];
    out += "        '" + (spec.repeatable ? std::string("*") : std::to_string(i + 1)) + ":" + std::string(spec.name) +
           ":" + zsh_action(words_of(spec), spec.completion) + "' \\\n";
  }
  return out + "        && return\n      ;;\n";
}

// The second word of a group: offered, or joined to the first.
std::string zsh_groups() {
  std::string out = "  case ${words[1]} in\n";
  for (const std::string_view group : verb_groups()) {
    const std::string name(group);
    out += "    " + name + ")\n      if (( CURRENT == 2 )); then\n        local -a members=(\n";
    for (const Verb& verb : verbs()) {
      if (group_of(verb) != group) continue;
      out += "          '" + std::string(last_word(verb)) + ":" + zsh_text(verb.summary) + "'\n";
    }
    out +=
        "        )\n        _describe verb members; return\n      fi\n      shift words; (( CURRENT -= 1 ))\n"
        "      words[1]=" +
        name + "-${words[1]} ;;\n";
  }
  return out + "  esac\n";
}

// ----------------------------------------------------------------------------------------------------------- fish

std::string fish_text(std::string_view text) {
  return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string fish_option(const Verb& verb, const OptionSpec& option) {
  std::string out =
      "complete -c cofferdam -n '__cofferdam_in " + std::string(verb.name) + "' -l " + std::string(option.name);
  if (option.short_name != 0) out += std::string(" -s ") + option.short_name;
  const std::string words = words_of(option);
  if (!words.empty()) {
    out += " -x -a '" + words + "'";
  } else if (option.completion == Completion::kDirectory) {
    out += " -x -a '(__fish_complete_directories)'";
  } else if (option.completion == Completion::kFile || option.completion == Completion::kPath) {
    out += " -r -F";
  } else if (!option.value_name.empty()) {
    out += " -x";
  }
  return out + " -d " + fish_text(brief(option.help)) + "\n";
}

// How the verb itself is offered: after its group when it has one.
std::string fish_name(const Verb& verb) {
  const std::string_view group = group_of(verb);
  const std::string condition =
      group.empty() ? "__cofferdam_needs_verb" : "'__cofferdam_in_group " + std::string(group) + "'";
  return "complete -c cofferdam -n " + condition + " -a " + std::string(last_word(verb)) + " -d " +
         fish_text(verb.summary) + "\n";
}

std::string fish_positional(const Verb& verb, const PositionalSpec& spec) {
  const std::string words = words_of(spec);
  const std::string start = "complete -c cofferdam -n '__cofferdam_in " + std::string(verb.name) + "' ";
  if (!words.empty()) return start + "-a '" + words + "'\n";
  if (spec.completion == Completion::kDirectory) return start + "-a '(__fish_complete_directories)'\n";
  return spec.completion == Completion::kNone ? "" : start + "-F\n";
}

std::string fish_verb(const Verb& verb) {
  std::string out = fish_name(verb);
  for (const OptionSpec& option : options_of(verb)) out += fish_option(verb, option);
  for (const PositionalSpec& spec : verb.positionals) out += fish_positional(verb, spec);
  if (verb.takes_command) {
    out += "complete -c cofferdam -n '__cofferdam_has_command " + std::string(verb.name) +
           "' -a '(__cofferdam_command)'\n";
  }
  return out;
}

constexpr std::string_view kFishFunctions = R"(# fish completion for cofferdam; made by `cofferdam completion fish`
function __cofferdam_needs_verb
    test (count (commandline -opc)) -eq 1
end

# The words of a verb: one, or its group and its name.
function __cofferdam_in
    set -l words (commandline -opc)
    set -l count (count $argv)
    test (count $words) -gt $count; and test "$words[2..$(math $count + 1)]" = "$argv"; and not contains -- -- $words
end

function __cofferdam_in_group -a group
    set -l words (commandline -opc)
    test (count $words) -eq 2; and test "$words[2]" = $group
end

function __cofferdam_has_command -a verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $verb; and contains -- -- $words
end

# What fish offers for the command line after `--`.
function __cofferdam_command
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words)
    set -l rest
    if test (count $words) -gt $at
        set rest (string escape -- $words[(math $at + 1)..-1])
    end
    complete -C (string join ' ' -- $rest (commandline -ct))
end

complete -c cofferdam -f
complete -c cofferdam -n __cofferdam_needs_verb -l help -d 'Show help'
complete -c cofferdam -n __cofferdam_needs_verb -l version -d 'Print the version'
)";

}  // namespace

std::string bash_completion() {
  std::string out = R"(# bash completion for cofferdam; made by `cofferdam completion bash`
_cofferdam_reply() {
  mapfile -t COMPREPLY < <(compgen "$@" -- "$cur" | sort -u)
}

_cofferdam() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} i
  COMPREPLY=()
  # "--network=al" reaches us as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
)";
  out += "    _cofferdam_reply -W '" + first_words() + " " + std::string(kVerbSwitches) + "'\n    return\n  fi\n";
  out += R"(  for ((i = 2; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    compopt -o filenames
    if ((i == COMP_CWORD - 1)); then _cofferdam_reply -c; else _cofferdam_reply -f; fi
    return
  done
)" + bash_groups() +
         "  case $verb:$prev in\n";
  for (const Verb& verb : verbs()) out += bash_values(verb);
  out += "  esac\n  case $verb in\n";
  for (const Verb& verb : verbs()) out += bash_words(verb);
  return out + "  esac\n}\n\ncomplete -F _cofferdam cofferdam\n";
}

std::string zsh_completion() {
  std::string out = "#compdef cofferdam\n# zsh completion for cofferdam; made by `cofferdam completion zsh`\n\n";
  out += "_cofferdam() {\n  local -a verbs\n  verbs=(\n";
  for (const Verb& verb : verbs()) {
    if (group_of(verb).empty()) out += "    '" + std::string(verb.name) + ":" + zsh_text(verb.summary) + "'\n";
  }
  for (const std::string_view group : verb_groups()) {
    out += "    '" + std::string(group) + ":" + zsh_text(words_in_group(group)) + "'\n";
  }
  out += R"(  )
  if (( CURRENT == 2 )); then
    if [[ ${words[2]} == -* ]]; then
      compadd -- )" +
         std::string(kVerbSwitches) + R"(
    else
      _describe verb verbs
    fi
    return
  fi
  shift words
  (( CURRENT -= 1 ))
)" + zsh_groups() +
         "  case ${words[1]} in\n";
  for (const Verb& verb : verbs()) out += zsh_verb(verb);
  // Sourced, it registers itself; found in fpath, it is the function's body.
  return out +
         "  esac\n}\n\nif [[ ${funcstack[1]} == _cofferdam ]]; then\n  _cofferdam \"$@\"\nelse\n  compdef "
         "_cofferdam cofferdam\nfi\n";
}

std::string fish_completion() {
  std::string out(kFishFunctions);
  for (const std::string_view group : verb_groups()) {
    out += "complete -c cofferdam -n __cofferdam_needs_verb -a " + std::string(group) + " -d " +
           fish_text(words_in_group(group)) + "\n";
  }
  for (const Verb& verb : verbs()) out += fish_verb(verb);
  return out;
}

}  // namespace cofferdam::cli
