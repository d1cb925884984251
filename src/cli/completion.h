// Completion scripts, made from the table of verbs.
#pragma once

#include <string>

namespace cofferdam::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace cofferdam::cli
