#include "cli/completion.h"
namespace cofferdam::cli {
std::string bash_completion() { return ""; }
std::string zsh_completion() { return ""; }
std::string fish_completion() { return ""; }
}  // namespace cofferdam::cli
