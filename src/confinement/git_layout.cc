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
  return Error(ErrorCode::kPermissionDenied, "The Git pointer " + workspace + "/.git is not trusted: " + why)
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

// Git takes a directory that this file names for the repository, configuration included. A dot is the directory
// itself, so the stand-in for an absent one changes nothing.
constexpr std::string_view kSameDirectory = ".\n";

bool says_true(std::string_view value) {
  return value.empty() || equals_ignoring_case(value, "true") || equals_ignoring_case(value, "yes") ||
         equals_ignoring_case(value, "on") || value == "1";
}

class GitDirectory {
 public:
  GitDirectory(GitLayout& layout, const HostView& host, const std::string& workspace, const std::string& path)
      : layout_(layout), host_(host), workspace_(workspace), path_(path) {}

  // Hooks and configuration, and what leads to others of them.
  void protect() {
    add("/hooks", true);
    add("/config", false);
    const std::string config = host_.read_file(path_ + "/config", kConfigBytes).value_or("");
    const auto extension = last(git_config_values(config, "extensions", "worktreeconfig"));
    if ((extension && says_true(*extension)) || host_.inspect(path_ + "/config.worktree")) {
      add("/config.worktree", false);
    }
    layout_.protected_paths.push_back({.path = path_ + "/commondir", .absent_content = std::string(kSameDirectory)});
    protect_named(config);
    protect_worktrees();
  }

  // Files of the workspace that the configuration makes a part of itself.
  void protect_named() { protect_named(host_.read_file(path_ + "/config", kConfigBytes).value_or("")); }

 private:
  static std::optional<std::string> last(const std::vector<std::string>& values) {
    return values.empty() ? std::nullopt : std::optional(values.back());
  }

  void add(const std::string& name, bool is_directory) {
    layout_.protected_paths.push_back({.path = path_ + name, .is_directory = is_directory, .absent_content = {}});
  }

  void protect_named(const std::string& config) {
    for (const std::string& value : git_config_values(config, "include", "path")) protect_value(value, path_, false);
    for (const std::string& value : git_config_values(config, "includeif", "path")) protect_value(value, path_, false);
    if (const auto hooks = last(git_config_values(config, "core", "hookspath")))
      protect_value(*hooks, workspace_, true);
  }

  void protect_value(const std::string& value, const std::string& base, bool is_directory) {
    if (value.empty() || value.starts_with('~')) return;
    auto path = domain::normalized_absolute(value.starts_with('/') ? value : joined(base, value));
    // Husky's own scripts are in `_` and start the ones beside it.
    if (path && is_directory && domain::name_of(*path) == "_") path = parent_of(*path);
    if (!path || *path == workspace_ || !is_inside(*path, workspace_)) return;
    const auto same = [&](const GitLayout::Protected& known) { return is_inside(*path, known.path); };
    if (std::ranges::any_of(layout_.protected_paths, same)) return;
    layout_.protected_paths.push_back({.path = *path, .is_directory = is_directory, .absent_content = {}});
  }

  // Worktrees of this repository that lie elsewhere: each is told here where its repository is.
  void protect_worktrees() {
    const std::string worktrees = path_ + "/worktrees";
    if (!is_type(host_, worktrees, Type::kDirectory)) return;
    for (const std::string& name : host_.list(worktrees, kSubmodulesListed)) {
      for (const char* file : {"/gitdir", "/commondir", "/config.worktree"}) {
        const std::string place = "/worktrees/" + name + file;
        if (host_.inspect(path_ + place)) add(place, false);
      }
    }
  }

  GitLayout& layout_;
  const HostView& host_;
  const std::string& workspace_;
  const std::string& path_;
};

// Git directories of submodules, kept below .git/modules: each has hooks and a configuration of its own.
void protect_submodules(GitLayout& layout, const HostView& host, const std::string& workspace,
                        const std::string& directory, int depth) {
  if (depth > kSubmoduleDepth || !is_type(host, directory, Type::kDirectory)) return;
  for (const std::string& name : host.list(directory, kSubmodulesListed)) {
    const std::string path = joined(directory, name);
    if (!is_type(host, path, Type::kDirectory)) continue;
    if (is_type(host, path + "/HEAD", Type::kFile) && is_type(host, path + "/config", Type::kFile)) {
      GitDirectory(layout, host, workspace, path).protect();
      protect_submodules(layout, host, workspace, path + "/modules", depth + 1);
    } else {
      protect_submodules(layout, host, workspace, path, depth + 1);
    }
  }
}

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

Result<GitLayout> linked_worktree(const HostView& host, const std::string& workspace,
                                  const std::string& git_directory) {
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
  GitDirectory(layout, host, workspace, common).protect_named();
  layout.config_lock = common + "/config.lock";
  layout.exclude_file = common + "/info/exclude";
  return layout;
}

Result<GitLayout> submodule(const HostView& host, const std::string& workspace, const std::string& git_directory) {
  const auto config = host.read_file(git_directory + "/config", kConfigBytes);
  const auto values = config ? git_config_values(*config, "core", "worktree") : std::vector<std::string>();
  const auto worktree = values.empty() ? std::nullopt : std::optional(values.back());
  const auto back =
      worktree ? domain::normalized_absolute(worktree->starts_with('/') ? *worktree : joined(git_directory, *worktree))
               : std::nullopt;
  if (back != workspace) return forged(workspace, git_directory + " belongs to another checkout");
  GitLayout layout{.kind = GitLayout::Kind::kSubmodule};
  grant(layout, host, git_directory, Access::kReadWrite);
  GitDirectory(layout, host, workspace, git_directory).protect();
  layout.config_lock = git_directory + "/config.lock";
  layout.exclude_file = git_directory + "/info/exclude";
  return layout;
}

}  // namespace

std::vector<std::string> git_config_values(std::string_view config, std::string_view section, std::string_view key) {
  std::vector<std::string> values;
  bool here = false;
  for (const std::string_view raw : split(config, '\n')) {
    std::string_view line = trimmed(raw);
    if (line.starts_with('[')) {
      const std::size_t end = line.find_first_of(" \t\"]", 1);
      here = end != std::string_view::npos && equals_ignoring_case(line.substr(1, end - 1), section);
      const std::size_t close = line.rfind(']');
      line = close == std::string_view::npos ? std::string_view() : trimmed(line.substr(close + 1));
    }
    const std::size_t equals = line.find('=');
    if (!here || !equals_ignoring_case(trimmed(line.substr(0, equals)), key)) continue;
    std::string_view value = equals == std::string_view::npos ? std::string_view() : trimmed(line.substr(equals + 1));
    if (value.starts_with('"')) {
      value = value.substr(1, value.find('"', 1) - 1);
    } else {
      value = trimmed(value.substr(0, value.find_first_of("#;")));
    }
    values.emplace_back(value);
  }
  return values;
}

Result<GitLayout> read_git_layout(const HostView& host, const std::string& workspace) {
  const std::string dot_git = joined(workspace, ".git");
  const auto fact = host.inspect(dot_git);
  if (!fact) return GitLayout{};
  if (fact->type == Type::kDirectory) {
    GitLayout layout{.kind = GitLayout::Kind::kDirectory};
    GitDirectory(layout, host, workspace, dot_git).protect();
    protect_submodules(layout, host, workspace, dot_git + "/modules", 0);
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
  Result<GitLayout> layout = host.inspect(*target + "/commondir") ? linked_worktree(host, workspace, *target)
                                                                  : submodule(host, workspace, *target);
  if (!layout) return layout;
  layout->protected_paths.push_back({.path = dot_git, .is_directory = false, .absent_content = {}});
  std::erase_if(layout->grants, [&](const domain::PathGrant& entry) { return is_inside(entry.path, workspace); });
  return layout;
}

}  // namespace cofferdam::confinement
