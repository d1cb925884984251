// Which files of a saved tree Git would act on, and what of them comes back without the user's word.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "snapshot/manifest.h"

namespace cofferdam::snapshot {

// Knows every Git directory of a tree: `.git`, and whatever looks like a repository without a working tree.
class GitParts {
 public:
  explicit GitParts(const std::vector<SavedEntry>& entries);

  // A file in hooks/ of a repository or of a repository inside it (modules, worktrees): Git executes it.
  bool is_hook(std::string_view path) const;
  // The configuration of a repository or of one inside it.
  bool is_settings(std::string_view path) const;

 private:
  // What follows the outermost Git directory above `path`; nothing when there is none.
  std::vector<std::string_view> inside_git(std::string_view path) const;

  std::set<std::string, std::less<>> directories_;
};

// A configuration with only the settings that may travel (git/portable_config.h).
struct FilteredSettings {
  std::string text;
  std::vector<std::string> left_out;  // "core.fsmonitor: can run a program"
};
// An error for text that is no configuration.
Result<FilteredSettings> filtered_settings(std::string_view text);

}  // namespace cofferdam::snapshot
