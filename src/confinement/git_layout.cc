#include "confinement/git_layout.h"

#include <algorithm>

#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::is_inside;
using domain::joined;
using domain::parent_of;
using Type = PathFact::Type;

constexpr std::size_t kPointerBytes = 8192;
constexpr std::size_t kConfigBytes = std::size_t{1} << 20;
constexpr std::size_t kSubmodulesListed = 512;
constexpr int kSubmoduleDepth = 4;  // a submodule's name may hold slashes

Error forged(const std::string& workspace, const std::string& why) {
  return Error(ErrorCode::kPermissionDenied,
               "The Git pointer " + workspace + "/.git is not trusted: " + why)
      .with_hint("Repair it on the host (`git worktree repair` or `git submodule update`), or remove it.");
}

bool is_type(const HostView& host, const std::string& path, Type type) {
  const auto fact = host.inspect(path);
  return fact && fact->type == type;
}

// First line of a small pointer file, as an absolute path; relative ones start at `base`.
std::optional<std::string> pointer(const HostView& host, const std::string& file, std::string_view prefix,
                                   const std::string& base) {
  const auto content = host.read_file(file, kPointerBytes);
  if (!content || !content->starts_with(prefix)) return std::nullopt;
  std::string_view target = std::string_view(*content).substr(prefix.size());
  target = trimmed(target.substr(0, target.find('\n')));
  if (target.empty()) return std::nullopt;
  return domain::normalized_absolute(target.starts_with('/') ? std::string(target) : joined(base, target));
}

// The value of core.worktree in a Git configuration file; the last one counts.
std::optional<std::string> core_worktree(const std::string& config) {
  std::optional<std::string> value;
  bool in_core = false;
  for (const std::string_view raw : split(config, '\n')) {
    const std::string_view line = trimmed(raw);
    if (line.starts_with('[')) {
      in_core = equals_ignoring_case(line, "[core]");
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!in_core || equals == std::string_view::npos) continue;
    if (equals_ignoring_case(trimmed(line.substr(0, equals)), "worktree")) {
      value = std::string(trimmed(line.substr(equals + 1)));
    }
  }
  return value;
}

void protect(GitLayout& layout, const HostView& host, const std::string& git_directory) {
  layout.protected_paths.push_back({.path = git_directory + "/hooks", .is_directory = true});
  layout.protected_paths.push_back({.path = git_directory + "/config", .is_directory = false});
  if (host.inspect(git_directory + "/config.worktree")) {
    layout.protected_paths.push_back({.path = git_directory + "/config.worktree", .is_directory = false});
  }
}

// Git directories of submodules, kept below .git/modules: each has hooks and a configuration of its own.
void protect_submodules(GitLayout& layout, const HostView& host, const std::string& directory, int depth) {
  if (depth > kSubmoduleDepth || !is_type(host, directory, Type::kDirectory)) return;
  for (const std::string& name : host.list(directory, kSubmodulesListed)) {
    const std::string path = joined(directory, name);
    if (!is_type(host, path, Type::kDirectory)) continue;
    if (is_type(host, path + "/HEAD", Type::kFile) && is_type(host, path + "/config", Type::kFile)) {
      protect(layout, host, path);
      protect_submodules(layout, host, path + "/modules", depth + 1);
    } else {
      protect_submodules(layout, host, path, depth + 1);
    }
  }
}

void grant(GitLayout& layout, const HostView& host, const std::string& path, Access access) {
  if (host.inspect(path)) layout.grants.push_back({.path = path, .access = access, .origin = "Git data of the workspace"});
}

// The shared part of a repository: readable, and writable where commits and branches are recorded.
void grant_common(GitLayout& layout, const HostView& host, const std::string& common) {
  grant(layout, host, common, Access::kReadOnly);
  for (const char* part : {"/objects", "/refs", "/logs", "/lfs"}) grant(layout, host, common + part, Access::kReadWrite);
}

Result<GitLayout> linked_worktree(const HostView& host, const std::string& workspace, const std::string& git_directory) {
  const std::string common = parent_of(parent_of(git_directory));
  if (domain::name_of(parent_of(git_directory)) != "worktrees" || !is_type(host, common + "/HEAD", Type::kFile)) {
    return forged(workspace, git_directory + " is neither a worktree's nor a submodule's directory");
  }
  const auto back = pointer(host, git_directory + "/gitdir", "", git_directory);
  if (back != workspace + "/.git") {
    return forged(workspace, git_directory + " belongs to another worktree");
  }
  const auto named_common = pointer(host, git_directory + "/commondir", "", git_directory);
  if (named_common != common) return forged(workspace, "its commondir is not " + common);
  GitLayout layout{.kind = GitLayout::Kind::kLinkedWorktree};
  grant_common(layout, host, common);
  grant(layout, host, git_directory, Access::kReadWrite);
  for (const char* pointer_file : {"/gitdir", "/commondir"}) {
    layout.protected_paths.push_back({.path = git_directory + pointer_file, .is_directory = false});
  }
  if (host.inspect(git_directory + "/config.worktree")) {
    layout.protected_paths.push_back({.path = git_directory + "/config.worktree", .is_directory = false});
  }
  layout.config_lock = common + "/config.lock";
  return layout;
}

Result<GitLayout> submodule(const HostView& host, const std::string& workspace, const std::string& git_directory) {
  const auto config = host.read_file(git_directory + "/config", kConfigBytes);
  const auto worktree = config ? core_worktree(*config) : std::nullopt;
  const auto back = worktree ? domain::normalized_absolute(worktree->starts_with('/') ? *worktree
                                                                                      : joined(git_directory, *worktree))
                             : std::nullopt;
  if (back != workspace) return forged(workspace, git_directory + " belongs to another checkout");
  GitLayout layout{.kind = GitLayout::Kind::kSubmodule};
  grant(layout, host, git_directory, Access::kReadWrite);
  protect(layout, host, git_directory);
  layout.config_lock = git_directory + "/config.lock";
  return layout;
}

}  // namespace

Result<GitLayout> read_git_layout(const HostView& host, const std::string& workspace) {
  const std::string dot_git = joined(workspace, ".git");
  const auto fact = host.inspect(dot_git);
  if (!fact) return GitLayout{};
  if (fact->type == Type::kDirectory) {
    GitLayout layout{.kind = GitLayout::Kind::kDirectory};
    protect(layout, host, dot_git);
    protect_submodules(layout, host, dot_git + "/modules", 0);
    layout.config_lock = dot_git + "/config.lock";
    if (is_type(host, dot_git + "/info/exclude", Type::kFile)) layout.exclude_file = dot_git + "/info/exclude";
    return layout;
  }
  if (fact->type != Type::kFile) return forged(workspace, "it is a symbolic link or a special file");

  const auto target = pointer(host, dot_git, "gitdir:", workspace);
  if (!target) return forged(workspace, "it does not name a directory");
  const auto owner = host.inspect(*target);
  if (!owner || owner->type != Type::kDirectory) return forged(workspace, *target + " is not a directory");
  if (host.real_path(*target) != *target) return forged(workspace, *target + " is reached through a symbolic link");
  const auto workspace_fact = host.inspect(workspace);
  if (!workspace_fact || owner->uid != workspace_fact->uid) return forged(workspace, *target + " has another owner");
  Result<GitLayout> layout = host.inspect(*target + "/commondir") ? linked_worktree(host, workspace, *target)
                                                                  : submodule(host, workspace, *target);
  if (!layout) return layout;
  layout->protected_paths.push_back({.path = dot_git, .is_directory = false});
  std::erase_if(layout->grants, [&](const domain::PathGrant& entry) { return is_inside(entry.path, workspace); });
  return layout;
}

}  // namespace cofferdam::confinement
