#include "cli/man_page.h"
namespace cofferdam::cli {
std::string program_man_page(std::string_view) { return ""; }
std::string verb_man_page(const Verb&, std::string_view) { return ""; }
}  // namespace cofferdam::cli
