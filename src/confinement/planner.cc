#include "confinement/planner.h"

#include <algorithm>

#include "confinement/command_check.h"
#include "confinement/command_exposure.h"
#include "confinement/environment_plan.h"
#include "confinement/git_layout.h"
#include "confinement/grants.h"
#include "confinement/home_plan.h"
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
using domain::Policy;
using Type = PathFact::Type;

constexpr uid_t kInsideUidForRoot = 1000;
constexpr std::size_t kExcludeBytes = std::size_t{1} << 20;

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
    RETURN_IF_ERROR(grants_.add_all(policy_.grants));
    ASSIGN_OR_RETURN(more_protected_, add_home({.policy = policy_, .home = home_}, host_, grants_, mounts_, plan_));
    RETURN_IF_ERROR(add_git_and_protection());
    RETURN_IF_ERROR(protect_own_records());
    RETURN_IF_ERROR(add_aliases());
    RETURN_IF_ERROR(grants_.add_other_names());
    add_limits();
    RETURN_IF_ERROR(add_system());
    RETURN_IF_ERROR(expose_program());
    ASSIGN_OR_RETURN(plan_.bubblewrap, find_bubblewrap(host_, policy_.bubblewrap, grants_.writable_trees()));
    plan_.environment =
        plan_environment(host_, mounts_, {.policy = policy_, .home = home_, .user_name = plan_.identity.user_name});
    check_program();
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
        grants_.in_workspace(policy_.working_directory.empty() ? policy_.workspace : policy_.working_directory);
    workspace_fact_ = *fact;
    return {};
  }

  Status check_workspace() const {
    return check_workspace_place(plan_.workspace, {.path = home_,
                                                   .real_path = host_.real_path(home_).value_or(home_),
                                                   .may_be_workspace = policy_.allow_home_as_workspace});
  }

  Status add_workspace() {
    if (policy_.filesystem == FilesystemScope::kWorkspace ||
        hidden_by_host_scope(policy_.filesystem, plan_.workspace)) {
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

  // ---- protection ----------------------------------------------------------------------------------------------

  Status add_git_and_protection() {
    ASSIGN_OR_RETURN(const GitLayout git,
                     read_git_layout(host_, plan_.workspace,
                                     policy_.git_config_writable ? GitProtection::kOff : GitProtection::kOn));
    RETURN_IF_ERROR(grants_.add_all(git.grants));
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
      const std::string real = grants_.in_workspace(path);
      const auto fact = host_.inspect(real);
      paths.push_back({.path = real,
                       .is_directory = fact && fact->type == Type::kDirectory,
                       .placeholder_content = "",
                       .switch_that_allows = "leaving out --protect"});
    }
    RETURN_IF_ERROR(add_protection(mounts_, plan_.placeholders, host_, plan_.workspace, paths));
    return hide_placeholders_from_git(git);
  }

  // The next start believes what it finds there of what to clean up.
  Status protect_own_records() {
    const std::string state = host_.real_path(host_.facts().state_directory).value_or("");
    if (state.empty() || hidden_by_host_scope(policy_.filesystem, state)) return {};
    std::string tree = policy_.filesystem == FilesystemScope::kHost ? "/" : "";
    for (const std::string& writable : grants_.writable_trees()) {
      if (tree.empty() && is_inside(state, writable)) tree = writable;
    }
    if (tree.empty()) return {};
    return add_protection(mounts_, plan_.placeholders, host_, tree,
                          {{.path = state,
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
      const std::string target = grants_.in_workspace(alias.target);
      if (!is_inside(target, plan_.workspace)) {
        return Error(ErrorCode::kInvalidArgument, "Sandbox path alias \"" + alias.path +
                                                      "\" must target the synchronized workspace \"" +
                                                      policy_.workspace + "\".");
      }
      if (!host_.inspect(target)) {
        return Error(ErrorCode::kNotFound, "Sandbox path alias target \"" + alias.target + "\" does not exist.")
            .with_hint("Create it in the workspace, or take the alias out of the policy.");
      }
      RETURN_IF_ERROR(grants_.check_no_planted_link(target, "alias " + alias.path));
      RETURN_IF_ERROR(check_alias_place(alias.path, plan_.workspace, home_));
      Mount mount = bind_mount(target, Access::kReadWrite, "alias of " + target);
      mount.target = alias.path;
      if (const Mount* around = mounts_.covering(target); around != nullptr && around->kind == Mount::Kind::kReadOnly) {
        mount.kind = Mount::Kind::kReadOnly;
      }
      grants_.keep_other_name(std::move(mount));
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

  void add_limits() {
    LimitsPlan planned = plan_limits(policy_.limits, host_.facts().cgroups, plan_.identity.host_uid);
    plan_.limits = std::move(planned.limits);
    plan_.obstacles = std::move(planned.obstacles);
  }

  void check_program() {
    if (plan_.command.empty()) return;
    const auto path = std::ranges::find(plan_.environment, "PATH", &PlannedVariable::name);
    CommandCheck found = check_command(mounts_, host_,
                                       {.program = plan_.command[0],
                                        .working_directory = plan_.working_directory,
                                        .search_path = path == plan_.environment.end() ? "" : path->value});
    if (!found.warning.empty()) plan_.warnings.push_back(std::move(found.warning));
    if (!found.note.empty()) plan_.notes.push_back(std::move(found.note));
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
  Grants grants_{policy_, host_, plan_.workspace, mounts_};
  std::vector<ProtectedPath> more_protected_;
  PathFact workspace_fact_;
  std::string home_;
};

// In a tree that a run may write a name can be swapped for a link between any two looks at it, so what such a name
// leads to counts only when no link lies on the way. A placeholder has no identity before it is made.
Status Planner::record_identities() {
  for (Mount& mount : plan_.mounts) {
    if (!is_bind(mount) || mount.target == "/") continue;
    const auto place = grants_.place_without_links(mount.source);
    const auto fact = place ? host_.inspect_without_links(*place) : host_.follow(mount.source);
    if (fact) {
      mount.identity = fact->identity;
    } else if (place && !has_placeholder(plan_, mount.source)) {
      return Grants::replaced(mount.source);
    }
  }
  return {};
}

}  // namespace

Result<ConfinementPlan> make_plan(const Policy& policy, const std::vector<std::string>& command, const HostView& host) {
  return Planner(policy, command, host).plan();
}

}  // namespace cofferdam::confinement
