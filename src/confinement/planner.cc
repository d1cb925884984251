#include "confinement/planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

#include "base/ranges.h"
#include "base/strings.h"
#include "confinement/command_exposure.h"
#include "confinement/environment_plan.h"
#include "confinement/git_layout.h"
#include "confinement/landlock_plan.h"
#include "confinement/limits_plan.h"
#include "confinement/mount_set.h"
#include "confinement/network_plan.h"
#include "confinement/places.h"
#include "confinement/protection.h"
#include "confinement/system_layout.h"
#include "confinement/trusted_program.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::FilesystemScope;
using domain::is_inside;
using domain::NetworkScope;
using domain::PathGrant;
using domain::Policy;
using Type = PathFact::Type;

constexpr uid_t kInsideUidForRoot = 1000;
constexpr std::size_t kExcludeBytes = std::size_t{1} << 20;
constexpr std::size_t kSystemFileBytes = std::size_t{1} << 20;

// One plan in the making. The steps run in the order of plan(); each adds its part.
class Planner {
 public:
  Planner(const Policy& policy, const std::vector<std::string>& command, const HostView& host)
      : policy_(policy), host_(host) {
    plan_.command = command;
    plan_.filesystem = policy.filesystem;
    plan_.network = policy.network;
    plan_.allow = policy.allow;
    plan_.deny = policy.deny;
    plan_.nested_sandboxes = policy.nested_sandboxes;
    plan_.seccomp.nested_sandboxes = policy.nested_sandboxes;
    plan_.announcement = policy.announcement;
    plan_.restore_paths = policy.restore_paths;
    plan_.init = host.facts().init_program;
  }

  Result<ConfinementPlan> plan() && {
    RETURN_IF_ERROR(resolve_workspace());
    choose_identity();
    choose_home();
    RETURN_IF_ERROR(check_workspace());
    RETURN_IF_ERROR(add_workspace());
    RETURN_IF_ERROR(add_grants(policy_.grants));
    RETURN_IF_ERROR(add_home_paths());
    RETURN_IF_ERROR(add_git_and_protection());
    RETURN_IF_ERROR(protect_own_records());
    RETURN_IF_ERROR(add_aliases());
    RETURN_IF_ERROR(add_other_names());
    ASSIGN_OR_RETURN(plan_.limits, plan_limits(policy_.limits, host_.facts().cgroups, plan_.identity.host_uid));
    RETURN_IF_ERROR(add_system());
    RETURN_IF_ERROR(expose_program());
    ASSIGN_OR_RETURN(plan_.bubblewrap, find_bubblewrap(host_, policy_.bubblewrap, writable_trees()));
    plan_.environment =
        plan_environment(host_, mounts_, {.policy = policy_, .home = home_, .user_name = plan_.identity.user_name});
    add_listeners();
    note_weak_limits();
    plan_.landlock = plan_landlock({.abi = host_.facts().landlock_abi,
                                    .nested_sandboxes = plan_.nested_sandboxes,
                                    .filesystem = policy_.filesystem,
                                    .home = home_},
                                   mounts_);
    plan_.mounts = std::move(mounts_).in_order();
    RETURN_IF_ERROR(check_number_of_mounts());
    RETURN_IF_ERROR(record_identities());
    return std::move(plan_);
  }

 private:
  // ---- the workspace -------------------------------------------------------------------------------------------

  // Everything below refers to the real directory; a name that passes through links is a link inside, too.
  Status resolve_workspace() {
    const auto fact = host_.follow(policy_.workspace);
    if (!fact)
      return Error(ErrorCode::kNotFound, "The workspace " + policy_.workspace + " does not exist")
          .with_hint("Create it, or name another with --workspace.");
    if (fact->type != Type::kDirectory) {
      return Error(ErrorCode::kInvalidArgument, "The workspace " + policy_.workspace + " is not a directory");
    }
    const auto real = host_.real_path(policy_.workspace);
    if (!real) return Error(ErrorCode::kNotFound, "The workspace " + policy_.workspace + " cannot be resolved");
    plan_.workspace = *real;
    plan_.working_directory =
        in_workspace(policy_.working_directory.empty() ? policy_.workspace : policy_.working_directory);
    workspace_fact_ = *fact;
    return {};
  }

  // A path of the policy, with the workspace's name replaced by its real path.
  std::string in_workspace(const std::string& path) const {
    if (!is_inside(path, policy_.workspace)) return path;
    return plan_.workspace + path.substr(policy_.workspace == "/" ? 0 : policy_.workspace.size());
  }

  Status check_workspace() const {
    return check_workspace_place(plan_.workspace, {.path = home_,
                                                   .real_path = host_.real_path(home_).value_or(home_),
                                                   .may_be_workspace = policy_.allow_home_as_workspace});
  }

  Status add_workspace() {
    if (policy_.filesystem == FilesystemScope::kWorkspace || hidden_by_host_scope(plan_.workspace)) {
      RETURN_IF_ERROR(mounts_.add(bind_mount(plan_.workspace, Access::kReadWrite, "the workspace")));
    }
    if (plan_.workspace == policy_.workspace || policy_.filesystem == FilesystemScope::kHost) return {};
    Mount link;
    link.kind = Mount::Kind::kSymlink;
    link.source = plan_.workspace;
    link.target = policy_.workspace;
    link.reason = "the name by which the workspace was given";
    return mounts_.add(std::move(link));
  }

  bool hidden_by_host_scope(const std::string& path) const {
    if (policy_.filesystem != FilesystemScope::kHost) return false;
    return is_inside(path, "/tmp") || is_inside(path, "/run") || is_inside(path, "/var/tmp");
  }

  // ---- who and where -------------------------------------------------------------------------------------------

  void choose_identity() {
    Identity& identity = plan_.identity;
    identity.host_uid = host_.facts().euid;
    identity.host_gid = host_.facts().egid;
    if (identity.host_uid == 0 && workspace_fact_.uid != 0) {
      identity.switch_user = true;
      identity.host_uid = workspace_fact_.uid;
      identity.host_gid = workspace_fact_.gid;
    }
    identity.inside_uid = identity.host_uid == 0 ? kInsideUidForRoot : identity.host_uid;
    identity.inside_gid = identity.host_gid == 0 ? kInsideUidForRoot : identity.host_gid;
    const auto account = host_.account(identity.host_uid);
    identity.user_name = identity.host_uid == 0 || !account ? "agent" : account->name;
    plan_.protect_proc_sys = identity.host_uid == 0;
  }

  void choose_home() {
    const auto& environment = host_.facts().environment;
    const auto variable = environment.find("HOME");
    const auto account = host_.account(plan_.identity.host_uid);
    if (!policy_.home.empty()) {
      home_ = policy_.home;
    } else if (!plan_.identity.switch_user && variable != environment.end()) {
      home_ = domain::normalized_absolute(variable->second).value_or("");
    } else if (account) {
      home_ = domain::normalized_absolute(account->home).value_or("");
    }
    if (home_.empty() || home_ == "/") home_ = "/home/" + plan_.identity.user_name;
  }

  // ---- grants --------------------------------------------------------------------------------------------------

  // Trees that some confined command may have written: nothing in them is followed through links.
  std::vector<std::string> writable_trees() const {
    std::vector<std::string> trees = {plan_.workspace};
    for (const auto* grants : {&policy_.grants, &policy_.home_paths}) {
      for (const PathGrant& grant : *grants) {
        if (grant.access != Access::kReadWrite) continue;
        trees.push_back(in_workspace(grant.path));
        if (auto real = host_.real_path(trees.back()); real && *real != trees.back()) trees.push_back(std::move(*real));
      }
    }
    return trees;
  }

  // Where `path` lies when it is below a writable tree and no link in that tree leads elsewhere.
  std::optional<std::string> place_without_links(const std::string& path) const {
    for (const std::string& tree : writable_trees()) {
      if (is_inside(path, tree) && path != tree) return host_.real_path(tree).value_or(tree) + path.substr(tree.size());
    }
    return std::nullopt;
  }

  static Error replaced(const std::string& path) {
    return {ErrorCode::kFailedPrecondition, path + " was replaced while the sandbox was being planned"};
  }

  // Error when a component of `path` below a writable tree is a symbolic link.
  Status check_no_planted_link(const std::string& path, const std::string& origin) const {
    for (const std::string& tree : writable_trees()) {
      if (!is_inside(path, tree) || path == tree) continue;
      std::string step = tree;
      for (const std::string_view part : domain::components(path.substr(tree.size()))) {
        step = domain::joined(step, part);
        const auto fact = host_.inspect(step);
        if (!fact || fact->type != Type::kSymlink) continue;
        return Error(ErrorCode::kPermissionDenied,
                     origin + ": " + path + " passes through the symbolic link " + step + ", which a run can replace")
            .with_hint("Name the real path.");
      }
    }
    return {};
  }

  Status add_grants(const std::vector<PathGrant>& grants) {
    for (const PathGrant& grant : grants) RETURN_IF_ERROR(add_grant(grant));
    return {};
  }

  Status add_grant(const PathGrant& grant) {
    const std::string path = in_workspace(grant.path);
    if (is_never_granted(path)) return never_granted(grant, path);
    RETURN_IF_ERROR(check_no_planted_link(path, grant.origin));
    const auto real = host_.real_path(path);
    if (!real) {
      if (grant.optional) return {};
      return Error(ErrorCode::kNotFound, grant.origin + ": " + path + " does not exist")
          .with_hint("Create it first, or take it out of the policy.");
    }
    if (is_never_granted(*real)) return never_granted(grant, *real);
    if (const auto place = place_without_links(path); place && *place != *real) return replaced(path);
    Mount mount = bind_mount(path, grant.access, grant.origin);
    if (*real == path) return mounts_.add(std::move(mount));
    RETURN_IF_ERROR(check_no_planted_link(*real, grant.origin));
    mount.source = *real;
    other_names_.push_back(std::move(mount));
    return {};
  }

  static Error never_granted(const PathGrant& grant, const std::string& path) {
    return Error(ErrorCode::kInvalidArgument, grant.origin + " cannot be " + path)
        .with_hint("Use --filesystem host to show the host's file system.");
  }

  // Grants by a name that leads through links, and aliases: when all the places are known whose parts they show.
  Status add_other_names() {
    for (Mount& mount : other_names_) RETURN_IF_ERROR(mounts_.add_under_other_name(std::move(mount)));
    other_names_.clear();
    return {};
  }

  // Below a profile's writable directories, what the profile keeps read-only is protected even while absent.
  Status add_home_paths() {
    RETURN_IF_ERROR(check_home());
    std::vector<std::string> writable;
    for (const PathGrant& grant : policy_.home_paths) {
      if (grant.access != Access::kReadWrite) continue;
      RETURN_IF_ERROR(add_home_directory(grant));
      if (is_planned(grant.path) || host_.follow(grant.path)) writable.push_back(grant.path);
    }
    std::map<std::string, std::vector<ProtectedPath>> guarded;  // by the directory that they are in
    for (const PathGrant& grant : policy_.home_paths) {
      if (grant.access == Access::kReadWrite) continue;
      const std::string* holder = nullptr;
      for (const std::string& tree : writable) {
        const bool deeper = holder == nullptr || tree.size() > holder->size();
        if (is_inside(grant.path, tree) && grant.path != tree && deeper) holder = &tree;
      }
      if (grant.placeholder == PathGrant::Placeholder::kAbsence && !host_.inspect(grant.path)) {
        plan_.kept_absent.push_back(grant.path);
      } else if (holder == nullptr) {
        RETURN_IF_ERROR(add_grant(grant));
      } else {
        guarded[*holder].push_back(protected_setting(grant));
      }
    }
    for (auto& [holder, paths] : guarded) RETURN_IF_ERROR(protect_settings(holder, std::move(paths)));
    for (const domain::HomeFileCopy& file : policy_.home_files) RETURN_IF_ERROR(add_home_file(file));
    for (const domain::SystemFile& file : policy_.system_files) {
      if (policy_.filesystem != FilesystemScope::kWorkspace || mounts_.shows(file.path)) continue;
      const auto content = host_.read_file(file.path, kSystemFileBytes);
      const std::string reason = content ? "the host's own defaults" : file.origin;
      mounts_.add_unless_present(file_mount(file.path, content.value_or(file.content), reason));
    }
    return {};
  }

  // A home that does not exist is a misspelt one: a login would vanish with the run.
  Status check_home() const {
    if (policy_.home_paths.empty()) return {};
    const auto fact = host_.follow(home_);
    if (fact && fact->type == Type::kDirectory) return {};
    const bool is_made = std::ranges::any_of(policy_.home_paths, [&](const PathGrant& grant) {
      return grant.access == Access::kReadWrite && is_inside(home_, grant.path);
    });
    if (!fact && is_made) return {};
    return Error(fact ? ErrorCode::kInvalidArgument : ErrorCode::kNotFound,
                 "The home directory " + home_ + (fact ? " is not a directory" : " does not exist"))
        .with_hint("A profile keeps the agent's state there. Create it first, or name another with --home DIR.");
  }

  bool is_planned(const std::string& path) const {
    return std::ranges::any_of(plan_.placeholders,
                               [&](const Placeholder& placeholder) { return placeholder.path == path; });
  }

  // An agent's first use: its directory is made, and stays when the run has left something in it.
  Status add_home_directory(const PathGrant& grant) {
    if (host_.inspect(grant.path) || is_planned(grant.path)) {
      if (is_planned(grant.path)) return {};
      if (!host_.follow(grant.path)) {
        return Error(ErrorCode::kNotFound, grant.origin + ": " + grant.path + " is a symbolic link to nothing")
            .with_hint("Create the directory that it names, or remove the link.");
      }
      return add_grant(grant);
    }
    std::vector<std::string> missing = {grant.path};
    while (!host_.follow(domain::parent_of(missing.back())) && !is_planned(domain::parent_of(missing.back()))) {
      missing.push_back(domain::parent_of(missing.back()));
    }
    RETURN_IF_ERROR(check_no_planted_link(grant.path, grant.origin));
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
    return protect_in(real, paths);
  }

  static ProtectedPath protected_setting(const PathGrant& grant) {
    return {.path = grant.path,
            .is_directory = grant.placeholder == PathGrant::Placeholder::kDirectory,
            .placeholder_content = grant.path.ends_with(".json") ? "{}\n" : "",
            .switch_that_allows = "--agent-settings writable"};
  }

  // Where the host's own file would be seen (its directory is shown), the copy is mounted over it.
  Status add_home_file(const domain::HomeFileCopy& file) {
    const std::string path = file.name.starts_with('/') ? file.name : domain::joined(home_, file.name);
    HomeFile copy{.host_path = path, .inside_path = path, .guarded_members = file.guarded_members};
    const auto fact = host_.inspect(path);
    if (fact && fact->type == Type::kSymlink) {
      const auto real = host_.real_path(path);
      const auto named = real ? host_.inspect(*real) : std::nullopt;
      if (!named || named->type != Type::kFile || named->uid != plan_.identity.host_uid) {
        plan_.notes.push_back(path + " is a symbolic link to what is no file of this user's; the run does without it");
        return {};
      }
      copy.host_path = *real;
      copy.identity = named->identity;
      // Else a run whose workspace holds the file would write past the copy.
      if (is_inside(*real, plan_.workspace) && !copy.guarded_members.empty()) {
        more_protected_.push_back({.path = *real, .switch_that_allows = "--agent-settings writable"});
      }
    } else if (fact && fact->type != Type::kFile) {
      plan_.notes.push_back(path + " is not a regular file; the run does without it");
      return {};
    } else if (fact) {
      copy.identity = fact->identity;
    }
    const Mount* around = mounts_.covering(copy.host_path);
    const bool in_shown_tree = around != nullptr && around->kind == Mount::Kind::kReadWrite;
    if (policy_.filesystem == FilesystemScope::kHost) {
      copy.covers = !hidden_by_host_scope(copy.host_path);
      if (copy.covers) copy.inside_path = copy.host_path;
    } else if (copy.host_path == path) {
      copy.covers = in_shown_tree;
    }
    if (copy.covers && !fact) {
      plan_.placeholders.push_back({.path = copy.host_path, .is_directory = false, .content = "{}\n", .mode = 0600});
    }
    const auto same = [&](const HomeFile& known) { return known.host_path == copy.host_path; };
    if (std::ranges::none_of(plan_.home_files, same)) plan_.home_files.push_back(std::move(copy));
    return {};
  }

  // ---- protection ----------------------------------------------------------------------------------------------

  Status add_git_and_protection() {
    ASSIGN_OR_RETURN(const GitLayout git,
                     read_git_layout(host_, plan_.workspace,
                                     policy_.git_config_writable ? GitProtection::kOff : GitProtection::kOn));
    RETURN_IF_ERROR(add_grants(git.grants));
    std::vector<ProtectedPath> paths;
    if (!policy_.git_config_writable) {
      for (const GitLayout::Protected& path : git.protected_paths) {
        paths.push_back({.path = path.path,
                         .is_directory = path.is_directory,
                         .placeholder_content = path.absent_content,
                         .switch_that_allows = "--git-config writable"});
      }
      if (git.kind != GitLayout::Kind::kNone) plan_.git_config_lock = git.config_lock;
    }
    if (!policy_.agent_settings_writable) {
      for (ProtectedPath& path : agent_settings_of(plan_.workspace)) paths.push_back(std::move(path));
    }
    for (ProtectedPath& path : more_protected_) paths.push_back(std::move(path));
    for (const std::string& path : policy_.protect) {
      const std::string real = in_workspace(path);
      const auto fact = host_.inspect(real);
      paths.push_back({.path = real,
                       .is_directory = fact && fact->type == Type::kDirectory,
                       .placeholder_content = "",
                       .switch_that_allows = "leaving out --protect"});
    }
    RETURN_IF_ERROR(protect_in(plan_.workspace, paths));
    return hide_placeholders_from_git(git);
  }

  Status protect_in(const std::string& tree, const std::vector<ProtectedPath>& paths) {
    ASSIGN_OR_RETURN(ProtectionPlan protection, plan_protection(host_, tree, paths));
    for (Mount& mount : protection.mounts) {
      if (mount.reason.starts_with("pinned")) {
        mounts_.add_unless_present(std::move(mount));
      } else {
        RETURN_IF_ERROR(mounts_.add(std::move(mount)));
      }
    }
    for (Placeholder& placeholder : protection.placeholders) {
      if (!is_planned(placeholder.path)) plan_.placeholders.push_back(std::move(placeholder));
    }
    return {};
  }

  // The next start believes what it finds there of what to clean up.
  Status protect_own_records() {
    const std::string state = host_.real_path(host_.facts().state_directory).value_or("");
    if (state.empty() || hidden_by_host_scope(state)) return {};
    std::string tree = policy_.filesystem == FilesystemScope::kHost ? "/" : "";
    for (const std::string& writable : writable_trees()) {
      if (tree.empty() && is_inside(state, writable)) tree = writable;
    }
    if (tree.empty()) return {};
    return protect_in(tree, {{.path = state,
                              .is_directory = true,
                              .placeholder_content = "",
                              .switch_that_allows = "another COFFERDAM_STATE_DIR"}});
  }

  // An absent protected file reads as an untracked one; `git add -A` must not pick it up.
  Status hide_placeholders_from_git(const GitLayout& git) {
    std::string names;
    for (const Placeholder& placeholder : plan_.placeholders) {
      if (placeholder.is_directory || !is_inside(placeholder.path, plan_.workspace)) continue;
      if (is_inside(placeholder.path, plan_.workspace + "/.git")) continue;
      names += placeholder.path.substr(plan_.workspace.size()) + "\n";
    }
    if (names.empty() || git.exclude_file.empty()) return {};
    const Mount* around = mounts_.covering(git.exclude_file);
    const bool closed = around != nullptr && around->guards && around->kind == Mount::Kind::kReadOnly;
    if (closed) return {};  // its owner has closed .git, so Git does not work in here anyway
    add_exclude_placeholder(git.exclude_file);
    std::string content = host_.read_file(git.exclude_file, kExcludeBytes).value_or("");
    if (!content.empty() && !content.ends_with('\n')) content += '\n';
    return mounts_.add(data_mount(git.exclude_file, content + "# absent files that this run protects\n" + names,
                                  "hides the placeholders of absent protected files from Git"));
  }

  // Not every repository has the file to mount over.
  void add_exclude_placeholder(const std::string& exclude_file) {
    const std::string directory = domain::parent_of(exclude_file);
    if (!host_.inspect(directory)) plan_.placeholders.push_back({.path = directory, .is_directory = true});
    if (!host_.inspect(exclude_file)) plan_.placeholders.push_back({.path = exclude_file});
  }

  // ---- aliases -------------------------------------------------------------------------------------------------

  Status add_aliases() {
    for (const domain::PathAlias& alias : policy_.aliases) {
      const std::string target = in_workspace(alias.target);
      if (!is_inside(target, plan_.workspace)) {
        return Error(ErrorCode::kInvalidArgument, "Sandbox path alias \"" + alias.path +
                                                      "\" must target the synchronized workspace \"" +
                                                      policy_.workspace + "\".");
      }
      if (!host_.inspect(target)) {
        return Error(ErrorCode::kNotFound, "Sandbox path alias target \"" + alias.target + "\" does not exist.")
            .with_hint("Create it in the workspace, or take the alias out of the policy.");
      }
      RETURN_IF_ERROR(check_no_planted_link(target, "alias " + alias.path));
      RETURN_IF_ERROR(check_alias_place(alias.path, plan_.workspace, home_));
      Mount mount = bind_mount(target, Access::kReadWrite, "alias of " + target);
      mount.target = alias.path;
      if (const Mount* around = mounts_.covering(target); around != nullptr && around->kind == Mount::Kind::kReadOnly) {
        mount.kind = Mount::Kind::kReadOnly;
      }
      other_names_.push_back(std::move(mount));
    }
    return {};
  }

  // ---- the rest ------------------------------------------------------------------------------------------------

  Status add_system() {
    const auto tmpfs = limit_value(plan_, "tmpfs_size").value_or(static_cast<double>(kDefaultTmpfsBytes));
    Mount init = bind_mount(plan_.init, Access::kReadOnly, "the first process of the sandbox");
    init.target = kInsideInit;
    RETURN_IF_ERROR(mounts_.add(std::move(init)));
    return add_system_layout(mounts_, host_,
                             {.filesystem = policy_.filesystem,
                              .network = policy_.network,
                              .tmpfs_bytes = static_cast<std::uint64_t>(tmpfs),
                              .identity = plan_.identity,
                              .home = home_,
                              .nested_sandboxes = plan_.nested_sandboxes});
  }

  Status expose_program() {
    if (plan_.command.empty() || policy_.filesystem == FilesystemScope::kHost) return {};
    const auto& environment = host_.facts().environment;
    const auto path = environment.find("PATH");
    return expose_command(mounts_, host_,
                          {.program = plan_.command[0],
                           .working_directory = plan_.working_directory,
                           .search_path = path == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second,
                           .closed = {home_, host_.real_path(home_).value_or(home_), plan_.workspace}});
  }

  void add_listeners() {
    NetworkPlan network = plan_network(policy_);
    plan_.listeners = std::move(network.listeners);
    std::ranges::move(network.notes, std::back_inserter(plan_.notes));
  }

  void note_weak_limits() {
    for (const PlannedLimit& limit : plan_.limits) {
      if (!limit.remark.empty()) plan_.notes.push_back(limit.remark);
    }
  }

  // Bubblewrap takes 9,000 words, and a mount has up to five.
  Status check_number_of_mounts() const {
    constexpr std::size_t kMostMounts = 1'700;
    if (plan_.mounts.size() <= kMostMounts) return {};
    return Error(ErrorCode::kResourceExhausted, "The policy needs " + std::to_string(plan_.mounts.size()) +
                                                    " mounts; at most " + std::to_string(kMostMounts) + " are possible")
        .with_hint(
            "Name directories instead of the files in them: --protect, --ro and --rw hold for all that is below.");
  }

  Status record_identities();

  const Policy& policy_;
  const HostView& host_;
  ConfinementPlan plan_;
  MountSet mounts_;
  std::vector<Mount> other_names_;
  std::vector<ProtectedPath> more_protected_;
  PathFact workspace_fact_;
  std::string home_;
};

// In a tree that a run may write a name can be swapped for a link between any two looks at it, so what such a name
// leads to counts only when no link lies on the way. A placeholder has no identity before it is made.
Status Planner::record_identities() {
  for (Mount& mount : plan_.mounts) {
    if (!is_bind(mount) || mount.target == "/") continue;
    const auto place = place_without_links(mount.source);
    const auto fact = place ? host_.inspect_without_links(*place) : host_.follow(mount.source);
    const bool is_placeholder = std::ranges::any_of(
        plan_.placeholders, [&](const Placeholder& placeholder) { return placeholder.path == mount.source; });
    if (fact) {
      mount.identity = fact->identity;
    } else if (place && !is_placeholder) {
      return replaced(mount.source);
    }
  }
  return {};
}

}  // namespace

Result<ConfinementPlan> make_plan(const Policy& policy, const std::vector<std::string>& command, const HostView& host) {
  return Planner(policy, command, host).plan();
}

}  // namespace cofferdam::confinement
