#include "confinement/home_plan.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "confinement/places.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::FilesystemScope;
using domain::is_inside;
using domain::PathGrant;
using Type = PathFact::Type;

constexpr std::size_t kSystemFileBytes = std::size_t{1} << 20;

class HomePlanner {
 public:
  HomePlanner(const HomeRequest& request, const HostView& host, Grants& grants, MountSet& mounts, ConfinementPlan& plan)
      : request_(request), host_(host), grants_(grants), mounts_(mounts), plan_(plan) {}

  Result<std::vector<ProtectedPath>> add() {
    RETURN_IF_ERROR(check_home());
    RETURN_IF_ERROR(add_directories());
    RETURN_IF_ERROR(add_settings());
    for (const domain::HomeFileCopy& file : request_.policy.home_files) add_file(file);
    add_system_files();
    return std::move(more_protected_);
  }

 private:
  // A home that does not exist is a misspelt one: a login would vanish with the run.
  Status check_home() const {
    if (request_.policy.home_paths.empty()) return {};
    const auto fact = host_.follow(request_.home);
    if (fact && fact->type == Type::kDirectory) return {};
    const bool is_made = std::ranges::any_of(request_.policy.home_paths, [&](const PathGrant& grant) {
      return grant.access == Access::kReadWrite && is_inside(request_.home, grant.path);
    });
    if (!fact && is_made) return {};
    return Error(fact ? ErrorCode::kInvalidArgument : ErrorCode::kNotFound,
                 "The home directory " + request_.home + (fact ? " is not a directory" : " does not exist"))
        .with_hint("A profile keeps the agent's state there. Create it first, or name another with --home DIR.");
  }

  Status add_directories() {
    for (const PathGrant& grant : request_.policy.home_paths) {
      if (grant.access != Access::kReadWrite) continue;
      RETURN_IF_ERROR(add_directory(grant));
      if (has_placeholder(plan_, grant.path) || host_.follow(grant.path)) writable_.push_back(grant.path);
    }
    return {};
  }

  // Below a profile's writable directories, what the profile keeps read-only is protected even while absent.
  Status add_settings() {
    std::map<std::string, std::vector<ProtectedPath>> guarded;  // by the directory that they are in
    for (const PathGrant& grant : request_.policy.home_paths) {
      if (grant.access == Access::kReadWrite) continue;
      const std::string* holder = holder_of(grant.path);
      if (grant.placeholder == PathGrant::Placeholder::kAbsence && !host_.inspect(grant.path)) {
        plan_.kept_absent.push_back(grant.path);
      } else if (holder == nullptr) {
        RETURN_IF_ERROR(grants_.add(grant));
      } else {
        guarded[*holder].push_back(protected_setting(grant));
      }
    }
    for (auto& [holder, paths] : guarded) RETURN_IF_ERROR(protect_settings(holder, std::move(paths)));
    return {};
  }

  // The innermost writable directory around `path`; null when there is none.
  const std::string* holder_of(const std::string& path) const {
    const std::string* holder = nullptr;
    for (const std::string& tree : writable_) {
      const bool deeper = holder == nullptr || tree.size() > holder->size();
      if (is_inside(path, tree) && path != tree && deeper) holder = &tree;
    }
    return holder;
  }

  void add_system_files() {
    for (const domain::SystemFile& file : request_.policy.system_files) {
      if (request_.policy.filesystem != FilesystemScope::kWorkspace || mounts_.shows(file.path)) continue;
      const auto content = host_.read_file(file.path, kSystemFileBytes);
      const std::string reason = content ? "the host's own defaults" : file.origin;
      mounts_.add_unless_present(file_mount(file.path, content.value_or(file.content), reason));
    }
  }

  // An agent's first use: its directory is made, and stays when the run has left something in it.
  Status add_directory(const PathGrant& grant) {
    if (has_placeholder(plan_, grant.path)) return {};
    if (host_.inspect(grant.path)) {
      if (!host_.follow(grant.path)) {
        return Error(ErrorCode::kNotFound, grant.origin + ": " + grant.path + " is a symbolic link to nothing")
            .with_hint("Create the directory that it names, or remove the link.");
      }
      return grants_.add(grant);
    }
    std::vector<std::string> missing = {grant.path};
    while (!host_.follow(domain::parent_of(missing.back())) &&
           !has_placeholder(plan_, domain::parent_of(missing.back()))) {
      missing.push_back(domain::parent_of(missing.back()));
    }
    RETURN_IF_ERROR(grants_.check_no_planted_link(grant.path, grant.origin));
    const std::string base = domain::parent_of(missing.back());
    const std::string real = host_.real_path(base).value_or(base);
    for (const std::string& path : missing | std::views::reverse) {
      plan_.placeholders.push_back(
          {.path = real_below(path, base, real), .is_directory = true, .content = "", .mode = 0700});
    }
    Mount mount = bind_mount(grant.path, Access::kReadWrite, grant.origin + "; made on the first use");
    mount.source = real_below(grant.path, base, real);
    return mounts_.add(std::move(mount));
  }

  static std::string real_below(const std::string& path, const std::string& base, const std::string& real) {
    if (base == real) return path;
    return real == "/" ? path.substr(base.size()) : real + path.substr(base == "/" ? 0 : base.size());
  }

  // Protection is a matter of the real place: a name through a link gets copies of its mounts (add_other_names).
  Status protect_settings(const std::string& holder, std::vector<ProtectedPath> paths) {
    const std::string real = host_.real_path(holder).value_or(holder);
    for (ProtectedPath& path : paths) path.path = real + path.path.substr(holder.size());
    return add_protection(mounts_, plan_.placeholders, host_, real, paths);
  }

  static ProtectedPath protected_setting(const PathGrant& grant) {
    return {.path = grant.path,
            .is_directory = grant.placeholder == PathGrant::Placeholder::kDirectory,
            .placeholder_content = grant.path.ends_with(".json") ? "{}\n" : "",
            .switch_that_allows = "--agent-settings writable"};
  }

  void add_file(const domain::HomeFileCopy& file) {
    const std::string path = file.name.starts_with('/') ? file.name : domain::joined(request_.home, file.name);
    HomeFile copy{.host_path = path, .inside_path = path, .guarded_members = file.guarded_members};
    if (!find_on_host(copy)) return;
    choose_place(copy);
    if (copy.covers && !copy.identity) {
      plan_.placeholders.push_back({.path = copy.host_path, .is_directory = false, .content = "{}\n", .mode = 0600});
    }
    const auto same = [&](const HomeFile& known) { return known.host_path == copy.host_path; };
    if (std::ranges::none_of(plan_.home_files, same)) plan_.home_files.push_back(std::move(copy));
  }

  // Which file of the host is copied; false when what is there is none.
  bool find_on_host(HomeFile& copy) {
    const auto fact = host_.inspect(copy.inside_path);
    if (fact && fact->type == Type::kSymlink) return follow_link(copy);
    if (fact && fact->type != Type::kFile) {
      plan_.notes.push_back(copy.inside_path + " is not a regular file; the run does without it");
      return false;
    }
    if (fact) copy.identity = fact->identity;
    return true;
  }

  bool follow_link(HomeFile& copy) {
    const auto real = host_.real_path(copy.inside_path);
    const auto named = real ? host_.inspect(*real) : std::nullopt;
    if (!named || named->type != Type::kFile || named->uid != plan_.identity.host_uid) {
      plan_.notes.push_back(copy.inside_path +
                            " is a symbolic link to what is no file of this user's; the run does without it");
      return false;
    }
    copy.host_path = *real;
    copy.identity = named->identity;
    // Else a run whose workspace holds the file would write past the copy.
    if (is_inside(*real, plan_.workspace) && !copy.guarded_members.empty()) {
      more_protected_.push_back({.path = *real, .switch_that_allows = "--agent-settings writable"});
    }
    return true;
  }

  // Where the host's own file would be seen (its directory is shown), the copy is mounted over it.
  void choose_place(HomeFile& copy) const {
    if (request_.policy.filesystem == FilesystemScope::kHost) {
      copy.covers = !hidden_by_host_scope(FilesystemScope::kHost, copy.host_path);
      if (copy.covers) copy.inside_path = copy.host_path;
    } else if (copy.host_path == copy.inside_path) {
      const Mount* around = mounts_.covering(copy.host_path);
      copy.covers = around != nullptr && around->kind == Mount::Kind::kReadWrite;
    }
  }

  const HomeRequest& request_;
  const HostView& host_;
  Grants& grants_;
  MountSet& mounts_;
  ConfinementPlan& plan_;
  std::vector<std::string> writable_;  // the directories
  std::vector<ProtectedPath> more_protected_;
};

}  // namespace

Result<std::vector<ProtectedPath>> add_home(const HomeRequest& request, const HostView& host, Grants& grants,
                                            MountSet& mounts, ConfinementPlan& plan) {
  return HomePlanner(request, host, grants, mounts, plan).add();
}

}  // namespace cofferdam::confinement
