// The plan in the words of bubblewrap, and bubblewrap's words in ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

// Content that bubblewrap reads from a descriptor: descriptor first_data_fd + index holds contents[index].
struct BubblewrapArguments {
  std::vector<std::string> arguments;  // without the program's name; for --args
  std::vector<std::string> contents;
};

// `home_files` are the contents of plan.home_files, in order.
BubblewrapArguments bubblewrap_arguments(const ConfinementPlan& plan, const std::vector<std::string>& home_files,
                                         int first_data_fd);

// What bubblewrap printed before it gave up, as an error that names the cause and the remedy.
Error explain_bubblewrap_failure(std::string_view words);

}  // namespace cofferdam::confinement
