#include "confinement/git_layout.h"

#include <algorithm>

#include "base/strings.h"
#include "confinement/git_config.h"
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
constexpr std::size_t kMostGitDirectories = 200;  // each costs several mounts
constexpr std::size_t kListed = 1024;
constexpr int kNameDepth = 16;     // a submodule's name may hold slashes
constexpr int kIncludeDepth = 10;  // as Git's own bound

Error forged(const std::string& workspace, const std::string& why) {
  return Error(ErrorCode::kPermissionDenied, "The Git pointer " + workspace + "/.git is not trusted: " + why)
      .with_hint("Repair it on the host (`git worktree repair` or `git submodule update`), or remove it.");
}

Error cannot_protect(const std::string& path, const std::string& why) {
  return Error(ErrorCode::kUnsupported, "The Git data at " + path + " cannot be protected: " + why)
      .with_hint("Mend it on the host, or let the run change Git's configuration with --git-config writable.");
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

// Git takes a directory that this file names for the repository, configuration included. A dot is the directory
// itself, so the stand-in for an absent one changes nothing.
constexpr std::string_view kSameDirectory = ".\n";

bool says_true(std::string_view value) {
  return value.empty() || equals_ignoring_case(value, "true") || equals_ignoring_case(value, "yes") ||
         equals_ignoring_case(value, "on") || value == "1";
}

// Collects what must stay as it is in a repository and in everything that hangs on it: submodules below modules/,
// linked worktrees below worktrees/, files that a configuration includes, its hooks. What it cannot see whole is an
// error: a part that is left out is a part in which a run may plant what the host then executes.
class GitProtector {
 public:
  GitProtector(GitLayout& layout, const HostView& host, const std::string& workspace)
      : layout_(layout), host_(host), workspace_(workspace) {}

  // A Git directory: hooks, configuration and what leads to others of them.
  Status protect(const std::string& path) {
    if (++directories_ > kMostGitDirectories) {
      return cannot_protect(path, "more than " + std::to_string(kMostGitDirectories) + " repositories hang together");
    }
    add(path + "/hooks", true);
    add(path + "/config", false);
    ASSIGN_OR_RETURN(const std::string config, read_config(path + "/config"));
    const auto extension = last(git_config_values(config, "extensions", "worktreeconfig"));
    const bool per_worktree = extension && says_true(*extension);
    if (per_worktree || host_.inspect(path + "/config.worktree")) add(path + "/config.worktree", false);
    layout_.protected_paths.push_back({.path = path + "/commondir", .absent_content = std::string(kSameDirectory)});
    RETURN_IF_ERROR(protect_named(config, path, 0));
    RETURN_IF_ERROR(protect_worktrees(path + "/worktrees", per_worktree));
    return protect_modules(path + "/modules", 0);
  }

  // Files of the workspace that a configuration outside it makes a part of itself.
  Status protect_named_by(const std::string& directory) {
    ASSIGN_OR_RETURN(const std::string config, read_config(directory + "/config"));
    return protect_named(config, directory, 0);
  }

  // Git directories of submodules: each has hooks and a configuration of its own.
  Status protect_modules(const std::string& directory, int depth) {
    if (depth > kNameDepth) return cannot_protect(directory, "its directories nest too deeply");
    ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(directory));
    for (const std::string& name : names) {
      const std::string path = joined(directory, name);
      if (is_type(host_, path, Type::kSymlink)) return cannot_protect(path, "it is a symbolic link");
      if (!is_type(host_, path, Type::kDirectory)) continue;
      const bool is_repository = host_.inspect(path + "/HEAD") || host_.inspect(path + "/config");
      RETURN_IF_ERROR(is_repository ? protect(path) : protect_modules(path, depth + 1));
    }
    return {};
  }

 private:
  static std::optional<std::string> last(const std::vector<std::string>& values) {
    return values.empty() ? std::nullopt : std::optional(values.back());
  }

  void add(const std::string& path, bool is_directory) {
    layout_.protected_paths.push_back({.path = path, .is_directory = is_directory, .absent_content = {}});
  }

  Result<std::string> read_config(const std::string& path) const {
    std::string config = host_.read_file(path, kConfigBytes + 1).value_or("");
    if (config.size() > kConfigBytes) return cannot_protect(path, "it is longer than 1 MiB");
    return config;
  }

  Result<std::vector<std::string>> names_in(const std::string& directory) const {
    if (!is_type(host_, directory, Type::kDirectory)) return std::vector<std::string>();
    std::vector<std::string> names = host_.list(directory, kListed);
    if (names.size() >= kListed) return cannot_protect(directory, "it holds too many entries");
    return names;
  }

  Status protect_named(const std::string& config, const std::string& directory, int depth) {
    if (depth > kIncludeDepth) return {};  // Git refuses to go on here
    for (const char* section : {"include", "includeif"}) {
      for (const std::string& value : git_config_values(config, section, "path")) {
        RETURN_IF_ERROR(protect_included(value, directory, depth));
      }
    }
    for (const std::string& hooks : git_config_values(config, "core", "hookspath")) protect_hooks(hooks);
    return {};
  }

  Status protect_included(const std::string& value, const std::string& directory, int depth) {
    if (value.empty() || value.starts_with('~')) return {};
    const auto path = domain::normalized_absolute(value.starts_with('/') ? value : joined(directory, value));
    if (!path) return {};
    protect_in_workspace(*path, false);
    ASSIGN_OR_RETURN(const std::string included, read_config(*path));
    return protect_named(included, parent_of(*path), depth + 1);
  }

  void protect_hooks(const std::string& value) {
    if (value.empty() || value.starts_with('~')) return;
    auto path = domain::normalized_absolute(value.starts_with('/') ? value : joined(workspace_, value));
    // Husky's own scripts are in `_` and start the ones beside it.
    if (path && domain::name_of(*path) == "_") path = parent_of(*path);
    if (path) protect_in_workspace(*path, true);
  }

  void protect_in_workspace(const std::string& path, bool is_directory) {
    if (path == workspace_ || !is_inside(path, workspace_)) return;
    const auto same = [&](const GitLayout::Protected& known) { return is_inside(path, known.path); };
    if (std::ranges::none_of(layout_.protected_paths, same)) add(path, is_directory);
  }

  // Worktrees of this repository that lie elsewhere: each is told here where its repository is, and may have a
  // configuration and submodules of its own.
  Status protect_worktrees(const std::string& directory, bool per_worktree) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(directory));
    for (const std::string& name : names) {
      const std::string path = joined(directory, name);
      if (!is_type(host_, path, Type::kDirectory)) continue;
      for (const char* file : {"/gitdir", "/commondir", "/config.worktree"}) {
        const bool may_come = per_worktree && std::string_view(file) == "/config.worktree";
        if (may_come || host_.inspect(path + file)) add(path + file, false);
      }
      RETURN_IF_ERROR(protect_modules(path + "/modules", 0));
    }
    return {};
  }

  GitLayout& layout_;
  const HostView& host_;
  const std::string& workspace_;
  std::size_t directories_ = 0;
};

void grant(GitLayout& layout, const HostView& host, const std::string& path, Access access) {
  if (host.inspect(path))
    layout.grants.push_back({.path = path, .access = access, .origin = "Git data of the workspace"});
}

// The shared part of a repository: readable, and writable where commits and branches are recorded.
void grant_common(GitLayout& layout, const HostView& host, const std::string& common) {
  grant(layout, host, common, Access::kReadOnly);
  for (const char* part : {"/objects", "/refs", "/logs", "/lfs"})
    grant(layout, host, common + part, Access::kReadWrite);
}

Result<GitLayout> linked_worktree(const HostView& host, const std::string& workspace, const std::string& git_directory,
                                  GitProtection protection) {
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
    layout.protected_paths.push_back(
        {.path = git_directory + pointer_file, .is_directory = false, .absent_content = {}});
  }
  // Read only where the configuration asks for it, and harmless otherwise.
  layout.protected_paths.push_back(
      {.path = git_directory + "/config.worktree", .is_directory = false, .absent_content = {}});
  GitProtector protector(layout, host, workspace);
  if (protection == GitProtection::kOn) {
    RETURN_IF_ERROR(protector.protect_named_by(common));
    RETURN_IF_ERROR(protector.protect_modules(git_directory + "/modules", 0));
  }
  layout.config_lock = common + "/config.lock";
  layout.exclude_file = common + "/info/exclude";
  return layout;
}

Result<GitLayout> submodule(const HostView& host, const std::string& workspace, const std::string& git_directory,
                            GitProtection protection) {
  const auto config = host.read_file(git_directory + "/config", kConfigBytes);
  const auto values = config ? git_config_values(*config, "core", "worktree") : std::vector<std::string>();
  const auto worktree = values.empty() ? std::nullopt : std::optional(values.back());
  const auto back =
      worktree ? domain::normalized_absolute(worktree->starts_with('/') ? *worktree : joined(git_directory, *worktree))
               : std::nullopt;
  if (back != workspace) return forged(workspace, git_directory + " belongs to another checkout");
  GitLayout layout{.kind = GitLayout::Kind::kSubmodule};
  grant(layout, host, git_directory, Access::kReadWrite);
  if (protection == GitProtection::kOn) RETURN_IF_ERROR(GitProtector(layout, host, workspace).protect(git_directory));
  layout.config_lock = git_directory + "/config.lock";
  layout.exclude_file = git_directory + "/info/exclude";
  return layout;
}

}  // namespace

Result<GitLayout> read_git_layout(const HostView& host, const std::string& workspace, GitProtection protection) {
  const std::string dot_git = joined(workspace, ".git");
  const auto fact = host.inspect(dot_git);
  if (!fact) return GitLayout{};
  if (fact->type == Type::kDirectory) {
    GitLayout layout{.kind = GitLayout::Kind::kDirectory};
    if (protection == GitProtection::kOn) RETURN_IF_ERROR(GitProtector(layout, host, workspace).protect(dot_git));
    layout.config_lock = dot_git + "/config.lock";
    layout.exclude_file = dot_git + "/info/exclude";
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
  Result<GitLayout> layout = host.inspect(*target + "/commondir")
                                 ? linked_worktree(host, workspace, *target, protection)
                                 : submodule(host, workspace, *target, protection);
  if (!layout) return layout;
  layout->protected_paths.push_back({.path = dot_git, .is_directory = false, .absent_content = {}});
  std::erase_if(layout->grants, [&](const domain::PathGrant& entry) { return is_inside(entry.path, workspace); });
  return layout;
}

}  // namespace cofferdam::confinement
