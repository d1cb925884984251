#include "snapshot/git_parts.h"

#include <algorithm>

#include "base/strings.h"
#include "git/config_file.h"
#include "git/portable_config.h"
#include "system/tree.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::string_view kGit = ".git";

std::string joined(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : std::string(directory) + "/" + std::string(name);
}

}  // namespace

GitParts::GitParts(const std::vector<SavedEntry>& entries) {
  std::set<std::string_view> known;
  for (const SavedEntry& saved : entries) known.insert(saved.entry.path);
  for (const SavedEntry& saved : entries) {
    const std::string_view path = saved.entry.path;
    if (system::base_name(path) == kGit && saved.entry.kind == workspace::EntryKind::kDirectory)
      directories_.emplace(path);
    if (system::base_name(path) != "HEAD") continue;
    const std::string_view directory = system::parent_path(path);
    const bool repository = known.contains(joined(directory, "objects")) && known.contains(joined(directory, "refs"));
    if (repository) directories_.emplace(directory);
  }
}

std::vector<std::string_view> GitParts::inside_git(std::string_view path) const {
  if (directories_.contains("")) return split(path, '/');
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (directories_.contains(path.substr(0, slash))) return split(path.substr(slash + 1), '/');
  }
  return {};
}

bool GitParts::is_hook(std::string_view path) const {
  const std::vector<std::string_view> names = inside_git(path);
  // Names of branches and their logs may hold anything, "hooks" too.
  if (names.empty() || names.front() == "refs" || names.front() == "logs") return false;
  return std::ranges::find(names.begin(), names.end() - 1, "hooks") != names.end() - 1;
}

bool GitParts::is_settings(std::string_view path) const {
  const std::vector<std::string_view> names = inside_git(path);
  if (names.empty() || names.front() == "refs" || names.front() == "logs") return false;
  return names.back() == "config" || names.back() == "config.worktree";
}

Result<FilteredSettings> filtered_settings(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<git::ConfigSetting> settings, git::parse_config(text));
  FilteredSettings filtered;
  for (const git::ConfigRefusal& refusal : git::nonportable_settings(settings)) {
    filtered.left_out.push_back(refusal.name + ": " + refusal.reason);
  }
  // Nothing to leave out: the text stays as it was written, comments included.
  filtered.text = filtered.left_out.empty() ? std::string(text) : git::render_config(git::portable_settings(settings));
  return filtered;
}

}  // namespace cofferdam::snapshot
