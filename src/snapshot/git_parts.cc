#include "snapshot/git_parts.h"

#include "base/strings.h"
#include "git/config_file.h"
#include "git/portable_config.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::string_view kGit = ".git";

// Whether a name above the last one is `.git`.
bool is_inside_git(const std::vector<std::string_view>& names) {
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    if (names[i] == kGit) return true;
  }
  return false;
}

}  // namespace

bool is_git_hook(std::string_view path) {
  bool inside_git = false;
  const auto names = split(path, '/');
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    if (inside_git && names[i] == "hooks") return true;
    inside_git = inside_git || names[i] == kGit;
  }
  return false;
}

bool is_git_settings(std::string_view path) {
  const auto names = split(path, '/');
  return is_inside_git(names) && (names.back() == "config" || names.back() == "config.worktree");
}

Result<FilteredSettings> filtered_settings(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<git::ConfigSetting> settings, git::parse_config(text));
  FilteredSettings filtered;
  for (const git::ConfigRefusal& refusal : git::nonportable_settings(settings)) {
    filtered.left_out.push_back(refusal.name + ": " + refusal.reason);
  }
  // Nothing to leave out: the text stays as it was written, comments included.
  filtered.text =
      filtered.left_out.empty() ? std::string(text) : git::render_config(git::portable_settings(settings));
  return filtered;
}

}  // namespace cofferdam::snapshot
