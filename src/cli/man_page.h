// Man pages, made from the table of verbs.
#pragma once

#include <string>
#include <string_view>

#include "cli/verb.h"

namespace cofferdam::cli {

// cofferdam(1): the overview.
std::string program_man_page(std::string_view version);

// cofferdam-VERB(1).
std::string verb_man_page(const Verb& verb, std::string_view version);

}  // namespace cofferdam::cli
