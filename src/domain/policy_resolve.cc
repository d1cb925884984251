#include "domain/policy_resolve.h"

#include <algorithm>
#include <array>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/path.h"
#include "domain/profile_apply.h"

namespace cofferdam::domain {
namespace {

using Settings = PolicySettings;

Error conflict(std::string message, std::string hint) {
  return Error(ErrorCode::kInvalidArgument, std::move(message)).with_hint(std::move(hint));
}

std::string in_quotes(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

template <class T>
bool holds(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

// ------------------------------------------------------------------------------------------- one layer by itself

Status check_network_of_layer(const Settings& layer) {
  if (!layer.network || layer.network->value == NetworkScope::kAllowlist) return {};
  const bool open = layer.network->value == NetworkScope::kOpen;
  const std::string scope = layer.network->where + (open ? " open" : " deny");
  if (!layer.allow.empty()) {
    return conflict(layer.allow.front().where + " " + layer.allow.front().value.text + " contradicts " + scope,
                    "An allow rule means the network scope \"allowlist\": leave one of the two out.");
  }
  if (open && !layer.deny.empty()) {
    return conflict(layer.deny.front().where + " " + layer.deny.front().value.text + " contradicts " + scope,
                    "An open network is not filtered. Use the scope \"allowlist\" with allow rules.");
  }
  return {};
}

Status check_aliases_of_layer(const Settings& layer) {
  for (std::size_t i = 0; i < layer.aliases.size(); ++i) {
    for (std::size_t j = i + 1; j < layer.aliases.size(); ++j) {
      const Given<PathAlias>& first = layer.aliases[i];
      const Given<PathAlias>& second = layer.aliases[j];
      if (first.value.path == second.value.path && first.value.target != second.value.target) {
        return conflict(second.where + ": " + in_quotes(second.value.path) + " has two different targets",
                        "Keep one of the aliases.");
      }
    }
  }
  return {};
}

Status check_layer(const Settings& layer) {
  RETURN_IF_ERROR(check_network_of_layer(layer));
  RETURN_IF_ERROR(check_aliases_of_layer(layer));
  return check_grants(layer.grants);
}

// --------------------------------------------------------------------------------------------- the layers together

template <class T>
std::vector<T> both(const std::vector<T>& first, const std::vector<T>& second) {
  std::vector<T> all = first;
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

template <class T>
std::optional<T> later(const std::optional<T>& file, const std::optional<T>& flags) {
  return flags ? flags : file;
}

// Grants of the file that no flag names too.
std::vector<PathGrant> merged_grants(const Settings& file, const Settings& flags) {
  std::vector<PathGrant> out = file.grants;
  std::erase_if(out, [&](const PathGrant& grant) {
    return std::ranges::any_of(flags.grants, [&](const PathGrant& flag) { return flag.path == grant.path; });
  });
  return both(out, flags.grants);
}

std::vector<Given<PathAlias>> merged_aliases(const Settings& file, const Settings& flags) {
  std::vector<Given<PathAlias>> out = file.aliases;
  std::erase_if(out, [&](const Given<PathAlias>& alias) {
    return std::ranges::any_of(flags.aliases, [&](const auto& flag) { return flag.value.path == alias.value.path; });
  });
  return both(out, flags.aliases);
}

// The scope of the network as the layers say it: a scope or an allow rule of the flags wins over the file's scope.
std::optional<Given<NetworkScope>> network_of(const Settings& layer) {
  if (layer.network) return layer.network;
  if (!layer.allow.empty()) return Given<NetworkScope>{NetworkScope::kAllowlist, layer.allow.front().where};
  return std::nullopt;
}

// A path of the workspace: relative ones start there.
Result<std::string> inside_workspace(const std::string& workspace, const std::string& path, const std::string& where) {
  const std::optional<std::string> absolute =
      normalized_absolute(path.starts_with('/') ? path : joined(workspace, path));
  if (absolute && is_inside(*absolute, workspace)) return *absolute;
  return conflict(where + ": " + in_quotes(path) + " is not inside the workspace " + in_quotes(workspace),
                  "Outside the workspace nothing is writable unless it was granted.");
}

// ------------------------------------------------------------------------------------------------ the final policy

// Builds the policy step by step; every step may fail and has the merged settings at hand.
class Resolver {
 public:
  Resolver(Settings settings, const Caller& caller) : settings_(std::move(settings)), caller_(caller) {}

  Result<ResolvedPolicy> resolve() {
    RETURN_IF_ERROR(set_profiles());
    set_scalars();
    RETURN_IF_ERROR(set_workspace());
    RETURN_IF_ERROR(set_working_directory());
    RETURN_IF_ERROR(add_protected(settings_, policy()));
    RETURN_IF_ERROR(set_aliases());
    RETURN_IF_ERROR(set_restore_paths());
    RETURN_IF_ERROR(set_network());
    RETURN_IF_ERROR(set_homes());
    set_environment();
    add_notes();
    return std::move(out_);
  }

 private:
  Policy& policy() { return out_.policy; }

  Status set_profiles() {
    for (const Given<std::string>& name : settings_.profiles) {
      if (holds(policy().profiles, name.value)) continue;
      ASSIGN_OR_RETURN(const Profile* profile, find_profile(name.value));
      profiles_.push_back(profile);
      policy().profiles.push_back(name.value);
    }
    return {};
  }

  void set_scalars() {
    Policy& p = policy();
    p.home = settings_.home ? settings_.home->value : caller_.home;
    if (settings_.filesystem) p.filesystem = settings_.filesystem->value;
    if (settings_.bubblewrap) p.bubblewrap = settings_.bubblewrap->value;
    p.allow_home_as_workspace = settings_.allow_home && settings_.allow_home->value;
    p.git_config_writable = settings_.git_config_writable && settings_.git_config_writable->value;
    p.agent_settings_writable = settings_.agent_settings_writable && settings_.agent_settings_writable->value;
    p.nested_sandboxes =
        settings_.nested ? settings_.nested->value
                         : std::ranges::any_of(profiles_, [](const Profile* each) { return each->nested_sandboxes; });
    p.limits = limits_of(settings_);
    p.grants = settings_.grants;
  }

  Status set_workspace() {
    policy().workspace = settings_.workspace ? settings_.workspace->value : caller_.current_directory;
    if (policy().filesystem == FilesystemScope::kHost) return {};
    const std::string where = settings_.workspace ? settings_.workspace->where : "the current directory";
    return check_workspace(policy().workspace, where, policy().allow_home_as_workspace, caller_);
  }

  Status set_working_directory() {
    const std::string& workspace = policy().workspace;
    std::string& directory = policy().working_directory;
    if (settings_.working_directory) {
      directory = settings_.working_directory->value;
    } else {
      const std::string& current = caller_.current_directory;
      directory = is_inside(current, workspace) ? current : workspace;
    }
    if (policy().filesystem == FilesystemScope::kHost || is_inside(directory, workspace)) return {};
    return conflict(settings_.working_directory->where + ": " + in_quotes(directory) +
                        " must be inside the workspace " + in_quotes(workspace),
                    "Choose a directory of the workspace, or another --workspace.");
  }

  Status set_aliases() {
    for (const Given<PathAlias>& given : settings_.aliases) {
      PathAlias alias = given.value;
      ASSIGN_OR_RETURN(alias.target, inside_workspace(policy().workspace, alias.target, given.where));
      if (alias.path == "/" || is_inside(policy().workspace, alias.path)) {
        return conflict(given.where + ": " + in_quotes(alias.path) + " would cover the workspace",
                        "Choose a path that is neither \"/\" nor above the workspace.");
      }
      if (!holds(policy().aliases, alias)) policy().aliases.push_back(std::move(alias));
    }
    return {};
  }

  bool is_writable(const std::string& path) {
    if (policy().filesystem == FilesystemScope::kHost || is_inside(path, policy().workspace)) return true;
    return std::ranges::any_of(policy().grants, [&](const PathGrant& grant) {
      return grant.access == Access::kReadWrite && (is_inside(grant.path, path) || is_inside(path, grant.path));
    });
  }

  Status set_restore_paths() {
    for (const Given<std::string>& given : settings_.restore) {
      if (!is_writable(given.value)) {
        return conflict(given.where + ": nothing at or below " + in_quotes(given.value) + " is writable",
                        "A restore path says that changes there belong to the result: grant them with --rw PATH.");
      }
      if (!holds(policy().restore_paths, given.value)) policy().restore_paths.push_back(given.value);
    }
    return {};
  }

  Status set_network() {
    const bool by_profile = !settings_.network && !profiles_.empty();
    if (settings_.network) policy().network = settings_.network->value;
    if (by_profile) policy().network = NetworkScope::kAllowlist;
    if (policy().network != NetworkScope::kAllowlist) return check_unused_rules();
    for (const Profile* profile : profiles_) {
      ASSIGN_OR_RETURN(const std::vector<NetworkRule> rules, host_rules(*profile));
      add_rules(rules, policy().allow);
    }
    for (const auto& given : settings_.allow) add_rules({given.value}, policy().allow);
    for (const auto& given : settings_.deny) add_rules({given.value}, policy().deny);
    if (!policy().allow.empty()) return {};
    return conflict((settings_.network ? settings_.network->where + " allowlist" : std::string("the allowlist")) +
                        " needs at least one rule",
                    "Name a destination with --allow RULE, or use --network deny.");
  }

  static void add_rules(const std::vector<NetworkRule>& rules, std::vector<NetworkRule>& list) {
    for (const NetworkRule& rule : rules) {
      if (!holds(list, rule)) list.push_back(rule);
    }
  }

  // Rules that the scope makes meaningless: silence would let the reader believe in them.
  Status check_unused_rules() {
    if (!settings_.deny.empty() && !settings_.network) {
      const auto& first = settings_.deny.front();
      return conflict(first.where + " " + first.value.text + " has no effect: the network is denied altogether",
                      "A deny rule narrows an allowlist: add --allow RULE or a profile, or leave it out.");
    }
    if (!settings_.allow.empty() || !settings_.deny.empty()) {
      out_.notes.push_back("the network rules of the policy file are not used: " + settings_.network->where +
                           (policy().network == NetworkScope::kOpen ? " open" : " deny") + " wins");
    }
    return {};
  }

  Status set_homes() {
    if (profiles_.empty()) return {};
    if (policy().home.empty()) {
      return conflict("a profile needs a home directory and HOME is not set", "Name it with --home DIR.");
    }
    for (const Profile* profile : profiles_) add_home(*profile, caller_, policy());
    return {};
  }

  void set_environment() {
    policy().variables.pass = default_pass_list();
    for (const Profile* profile : profiles_) add_environment(*profile, caller_, policy());
    apply_variables(settings_, policy().variables);
  }

  void add_notes() {
    if (policy().filesystem == FilesystemScope::kHost) {
      out_.notes.emplace_back("the file system is open: the command sees and changes what you can (filesystem host)");
    }
    if (policy().network == NetworkScope::kOpen) {
      out_.notes.emplace_back("the network is open: nothing is filtered or recorded (network open)");
    }
  }

  Settings settings_;
  const Caller& caller_;
  std::vector<const Profile*> profiles_;
  ResolvedPolicy out_;
};

template <class T>
std::optional<T> value_of(const std::optional<Given<T>>& given) {
  return given ? std::optional<T>(given->value) : std::nullopt;
}

}  // namespace

std::vector<std::string> default_pass_list() {
  constexpr std::array kNames = {
      "LANG",           "LANGUAGE",    "LC_ALL",      "LC_ADDRESS", "LC_COLLATE",  "LC_CTYPE", "LC_IDENTIFICATION",
      "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME",    "LC_NUMERIC",  "LC_PAPER", "LC_TELEPHONE",
      "LC_TIME",        "TERM",        "COLORTERM",   "NO_COLOR",   "FORCE_COLOR", "CLICOLOR", "TZ"};
  return {kNames.begin(), kNames.end()};
}

Limits limits_of(const PolicySettings& settings) {
  Limits limits;
  limits.memory_bytes = value_of(settings.memory);
  limits.pids = value_of(settings.pids);
  limits.cpus = value_of(settings.cpus);
  limits.open_files = value_of(settings.open_files);
  limits.file_size_bytes = value_of(settings.file_size);
  limits.tmpfs_bytes = value_of(settings.tmpfs_size);
  limits.wall_clock = value_of(settings.timeout);
  // The kernel counts processor time in whole seconds; rounding up never cuts a run short.
  if (settings.cpu_time) limits.cpu_time = std::chrono::ceil<std::chrono::seconds>(settings.cpu_time->value);
  return limits;
}

void put_variable(const VariableSetting& variable, Variables& variables) {
  std::erase(variables.pass, variable.name);
  std::erase_if(variables.set, [&](const EnvironmentVariable& each) { return each.name == variable.name; });
  if (variable.value) {
    variables.set.push_back({variable.name, *variable.value});
  } else {
    variables.pass.push_back(variable.name);
  }
}

void apply_variables(const PolicySettings& settings, Variables& variables) {
  for (const Given<VariableSetting>& given : settings.variables) put_variable(given.value, variables);
}

Status add_protected(const PolicySettings& settings, Policy& policy) {
  for (const Given<std::string>& given : settings.protect) {
    ASSIGN_OR_RETURN(std::string path, inside_workspace(policy.workspace, given.value, given.where));
    if (path == policy.workspace) {
      return conflict(given.where + ": the workspace itself cannot be protected",
                      "Protect the files and directories in it that must not change.");
    }
    if (!holds(policy.protect, path)) policy.protect.push_back(std::move(path));
  }
  return {};
}

PolicySettings merged(const PolicySettings& file, const PolicySettings& flags) {
  PolicySettings out;
  out.workspace = later(file.workspace, flags.workspace);
  out.working_directory = later(file.working_directory, flags.working_directory);
  out.home = later(file.home, flags.home);
  out.bubblewrap = later(file.bubblewrap, flags.bubblewrap);
  out.filesystem = later(file.filesystem, flags.filesystem);
  out.network = later(network_of(file), network_of(flags));
  out.grants = merged_grants(file, flags);
  out.restore = both(file.restore, flags.restore);
  out.protect = both(file.protect, flags.protect);
  out.aliases = merged_aliases(file, flags);
  out.allow = both(file.allow, flags.allow);
  out.deny = both(file.deny, flags.deny);
  out.profiles = both(file.profiles, flags.profiles);
  out.variables = both(file.variables, flags.variables);
  out.memory = later(file.memory, flags.memory);
  out.pids = later(file.pids, flags.pids);
  out.cpus = later(file.cpus, flags.cpus);
  out.open_files = later(file.open_files, flags.open_files);
  out.file_size = later(file.file_size, flags.file_size);
  out.tmpfs_size = later(file.tmpfs_size, flags.tmpfs_size);
  out.timeout = later(file.timeout, flags.timeout);
  out.cpu_time = later(file.cpu_time, flags.cpu_time);
  out.allow_home = later(file.allow_home, flags.allow_home);
  out.nested = later(file.nested, flags.nested);
  out.git_config_writable = later(file.git_config_writable, flags.git_config_writable);
  out.agent_settings_writable = later(file.agent_settings_writable, flags.agent_settings_writable);
  return out;
}

bool is_never_granted(std::string_view path) {
  constexpr std::array<std::string_view, 4> kNeverGranted = {"/", "/proc", "/dev", "/sys/fs/cgroup"};
  return contains(kNeverGranted, path);
}

Status check_grants(const std::vector<PathGrant>& grants) {
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (is_never_granted(grants[i].path)) {
      const std::string what = grants[i].path == "/" ? "the root directory" : grants[i].path;
      return conflict(grants[i].origin + ": " + what + " cannot be granted",
                      "Name the directories that are needed, or open the file system as a whole: filesystem host.");
    }
    for (std::size_t j = i + 1; j < grants.size(); ++j) {
      if (grants[i].path != grants[j].path || grants[i].access == grants[j].access) continue;
      return conflict(in_quotes(grants[i].path) + " is granted read-only and writable (" + grants[i].origin + ", " +
                          grants[j].origin + ")",
                      "Keep one of the two.");
    }
  }
  return {};
}

Status check_workspace(const std::string& workspace, const std::string& where, bool allow_home, const Caller& caller) {
  if (workspace == "/") {
    return conflict(where + ": the root directory cannot be the workspace", "Choose a project's directory.");
  }
  if (caller.home.empty() || caller.home == "/") return {};
  if (workspace == caller.home && !allow_home) {
    return conflict(
        where + ": the home directory " + in_quotes(workspace) + " as workspace hands over everything in it",
        "Choose a project's directory, or say --allow-home.");
  }
  if (workspace != caller.home && is_inside(caller.home, workspace)) {
    return conflict(where + ": " + in_quotes(workspace) + " cannot be the workspace, the home directory lies in it",
                    "Choose a project's directory.");
  }
  return {};
}

Result<ResolvedPolicy> resolve_policy(const PolicySettings& file, const PolicySettings& flags, const Caller& caller) {
  RETURN_IF_ERROR(check_layer(file));
  RETURN_IF_ERROR(check_layer(flags));
  return Resolver(merged(file, flags), caller).resolve();
}

}  // namespace cofferdam::domain
