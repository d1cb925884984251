#include "confinement/protection.h"

#include <algorithm>

#include "base/ranges.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::joined;
using Type = PathFact::Type;

struct Setting {
  std::string_view path;
  bool is_directory;
  std::string_view placeholder_content = {};
};

constexpr Setting kAgentSettings[] = {
    {".claude/settings.json", false, "{}\n"},
    {".claude/settings.local.json", false, "{}\n"},
    {".claude/hooks", true},
    {".claude/commands", true},
    {".claude/agents", true},
    {".claude/skills", true},
    {".claude/rules", true},
    {".claude/plugins", true},
    {".claude/output-styles", true},
    {".claude/workflows", true},
    {".claude/statusline", true},
    {".claude/statusline.sh", false},
    {".mcp.json", false, "{\"mcpServers\":{}}\n"},
    {".codex", true},
    {".gemini", true},
    {".cursor", true},
    {".opencode", true, "*\n"},  // opencode ends when the directory is there and it cannot write this file
    {"opencode.json", false, "{}\n"},
    {"opencode.jsonc", false, "{}\n"},
    {".pi", true},
    {".vscode", true},
    {".idea", true},
    {".envrc", false},
};

constexpr std::uint64_t kSeedBytes = 64 << 10;  // for a tmpfs that holds one small file

class Protector {
 public:
  Protector(const HostView& host, const std::string& workspace) : host_(host), workspace_(workspace) {}

  Status protect(const ProtectedPath& path) {
    ASSIGN_OR_RETURN(const std::string missing, first_missing(path));
    pin_parents(missing.empty() ? path.path : missing);
    if (missing.empty()) {
      add(bind_mount(path.path, Access::kReadOnly, "protected; " + path.switch_that_allows + " opens it"));
      return {};
    }
    cover_missing(path, missing);
    return {};
  }

  ProtectionPlan take() && { return std::move(plan_); }

 private:
  // The first component that does not exist, as a path; empty when all do.
  Result<std::string> first_missing(const ProtectedPath& path) const {
    const bool below_workspace = domain::is_inside(path.path, workspace_);
    const std::string base = below_workspace ? workspace_ : domain::parent_of(path.path);
    std::string step = base;
    for (const std::string_view part : domain::components(path.path.substr(base.size()))) {
      step = joined(step, part);
      const auto fact = host_.inspect(step);
      if (!fact) return step;
      if (fact->type == Type::kSymlink) {
        return Error(ErrorCode::kPermissionDenied,
                     "Cannot protect " + path.path + ": " + step + " is a symbolic link, which can be replaced")
            .with_hint("Replace the link by what it names, or allow changes with " + path.switch_that_allows + ".");
      }
    }
    return std::string();
  }

  void pin_parents(const std::string& path) {
    if (!domain::is_inside(path, workspace_)) return;
    for (std::string parent = domain::parent_of(path); parent.size() > workspace_.size();
         parent = domain::parent_of(parent)) {
      add(bind_mount(parent, Access::kReadWrite, "pinned: what it holds is protected"));
    }
  }

  void cover_missing(const ProtectedPath& path, const std::string& missing) {
    const bool whole_path_but_last = missing != path.path;
    const bool as_directory = path.is_directory || whole_path_but_last;
    if (as_directory && missing == path.path && !path.placeholder_content.empty()) {
      cover_with_file(path);
    } else {
      // The host's own and not bubblewrap's data, which is unlinked: a sandbox inside could not mount over it.
      add(bind_mount(missing, Access::kReadOnly, "absent and protected; " + path.switch_that_allows + " opens it"));
    }
    const auto known = [&](const Placeholder& placeholder) { return placeholder.path == missing; };
    if (std::ranges::none_of(plan_.placeholders, known)) {
      plan_.placeholders.push_back({.path = missing,
                                    .is_directory = as_directory,
                                    .content = as_directory ? std::string() : path.placeholder_content});
    }
  }

  // An absent directory reads as one that holds a .gitignore and nothing else.
  void cover_with_file(const ProtectedPath& path) {
    const std::string reason = "absent and protected; " + path.switch_that_allows + " opens it";
    add(tmpfs_mount(path.path, kSeedBytes, reason));
    add(data_mount(joined(path.path, ".gitignore"), path.placeholder_content, "the agent insists on it"));
    Mount sealed;
    sealed.kind = Mount::Kind::kRemountReadOnly;
    sealed.target = path.path;
    sealed.reason = reason;
    sealed.guards = true;
    plan_.mounts.push_back(std::move(sealed));
  }

  void add(Mount mount) {
    mount.guards = true;
    const auto found = std::ranges::find(plan_.mounts, mount.target, &Mount::target);
    if (found == plan_.mounts.end()) {
      plan_.mounts.push_back(std::move(mount));
    } else if (mount.kind == Mount::Kind::kReadOnly) {
      *found = std::move(mount);  // protected beats pinned
    }
  }

  const HostView& host_;
  const std::string& workspace_;
  ProtectionPlan plan_;
};

}  // namespace

std::vector<ProtectedPath> agent_settings_of(const std::string& workspace) {
  std::vector<ProtectedPath> out;
  for (const Setting& setting : kAgentSettings) {
    out.push_back({.path = joined(workspace, setting.path),
                   .is_directory = setting.is_directory,
                   .placeholder_content = std::string(setting.placeholder_content),
                   .switch_that_allows = "--agent-settings writable"});
  }
  return out;
}

Result<ProtectionPlan> plan_protection(const HostView& host, const std::string& workspace,
                                       const std::vector<ProtectedPath>& paths) {
  Protector protector(host, workspace);
  for (const ProtectedPath& path : paths) RETURN_IF_ERROR(protector.protect(path));
  return std::move(protector).take();
}

}  // namespace cofferdam::confinement
