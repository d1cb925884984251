#include "confinement/protection.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

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
    ASSIGN_OR_RETURN(const Place place, place_of(path));
    pin_parents(place.path);
    if (place.is_missing) {
      cover_missing(path, place.path);
    } else {
      const std::string reason =
          place.path == path.path ? "protected" : "protected: it stands where " + path.path + " would be";
      add(bind_mount(place.path, Access::kReadOnly, reason + "; " + path.switch_that_allows + " opens it"));
    }
    return {};
  }

  ProtectionPlan take() && { return std::move(plan_); }

 private:
  // Where protection takes hold: the path itself; its first component that is absent; or the one that keeps everything
  // from being made below it, and must go on to do so: a file, or a directory that its owner has closed.
  struct Place {
    std::string path;
    bool is_missing = false;
  };

  Result<Place> place_of(const ProtectedPath& path) const {
    const bool below_workspace = domain::is_inside(path.path, workspace_);
    const std::string base = below_workspace ? workspace_ : domain::parent_of(path.path);
    std::string step = base;
    std::optional<PathFact> around;
    for (const std::string_view part : domain::components(path.path.substr(base.size()))) {
      const std::string parent = std::exchange(step, joined(step, part));
      const auto fact = host_.inspect(step);
      if (!fact) {
        const bool closed = around && (around->mode & S_IWUSR) == 0;
        return closed ? Place{.path = parent} : Place{.path = step, .is_missing = true};
      }
      if (const std::string_view why = why_unprotectable(fact->type); !why.empty()) return refusal(path, step, why);
      if (step == path.path) break;
      if (fact->type != Type::kDirectory || (fact->mode & S_IXUSR) == 0) break;
      around = fact;
    }
    return Place{.path = step};
  }

  // Empty for what a read-only mount protects.
  static std::string_view why_unprotectable(Type type) {
    switch (type) {
      case Type::kFile:
      case Type::kDirectory:
        return "";
      case Type::kSymlink:
        return "a symbolic link, which can be replaced";
      case Type::kPipe:
        return "a named pipe, which a run could write even where it is read-only";
      case Type::kSocket:
        return "a socket, which a run could connect to even where it is read-only";
      case Type::kDevice:
      case Type::kOther:
        return "a device, which a run could use even where it is read-only";
    }
    return "";
  }

  static Error refusal(const ProtectedPath& path, const std::string& step, std::string_view why) {
    const bool is_link = why.starts_with("a symbolic link");
    return Error(ErrorCode::kPermissionDenied, "Cannot protect " + path.path + ": " + step + " is " + std::string(why))
        .with_hint(std::string(is_link ? "Replace the link by what it names" : "Remove it") +
                   ", or allow changes with " + path.switch_that_allows + ".");
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

Status add_protection(MountSet& mounts, std::vector<Placeholder>& placeholders, const HostView& host,
                      const std::string& workspace, const std::vector<ProtectedPath>& paths) {
  ASSIGN_OR_RETURN(ProtectionPlan protection, plan_protection(host, workspace, paths));
  for (Mount& mount : protection.mounts) {
    if (mount.reason.starts_with("pinned")) {
      mounts.add_unless_present(std::move(mount));
    } else {
      RETURN_IF_ERROR(mounts.add(std::move(mount)));
    }
  }
  for (Placeholder& placeholder : protection.placeholders) {
    const auto same = [&](const Placeholder& known) { return known.path == placeholder.path; };
    if (std::ranges::none_of(placeholders, same)) placeholders.push_back(std::move(placeholder));
  }
  return {};
}

}  // namespace cofferdam::confinement
