// Which files of a saved tree Git would act on, and what of them comes back without the user's word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cofferdam::snapshot {

// hooks/ of a repository or of the repositories inside it (modules, worktrees): Git executes what is in it.
bool is_git_hook(std::string_view path);

// The configuration of a repository or of one inside it.
bool is_git_settings(std::string_view path);

// A configuration with only the settings that may travel (git/portable_config.h).
struct FilteredSettings {
  std::string text;
  std::vector<std::string> left_out;  // "core.fsmonitor: can run a program"
};
// kDataLoss for text that is no configuration.
Result<FilteredSettings> filtered_settings(std::string_view text);

}  // namespace cofferdam::snapshot
