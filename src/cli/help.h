// Help texts, made from the table of verbs.
#pragma once

#include <string>

#include "cli/verb.h"

namespace cofferdam::cli {

// `cofferdam --help`: the verbs.
std::string program_help();

// `cofferdam GROUP`: the verbs of a group.
std::string group_help(std::string_view group);

// `cofferdam VERB --help`.
std::string verb_help(const Verb& verb);

// "--allow RULE", "-o, --output text|json".
std::string option_heading(const OptionSpec& option);

}  // namespace cofferdam::cli
