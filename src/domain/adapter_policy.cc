#include "domain/adapter_policy.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "domain/path.h"
#include "domain/profile_apply.h"

namespace cofferdam::domain {
namespace {

#ifdef __linux__
constexpr std::string_view kSystem = "linux";
#else
constexpr std::string_view kSystem = "other";
#endif

// The run's own variables, which the agent's skills and tools talk to the control plane with.
constexpr std::array kRunVariables = {"PAPERCLIP_API_URL",     "PAPERCLIP_API_KEY",      "PAPERCLIP_AGENT_ID",
                                      "PAPERCLIP_COMPANY_ID",  "PAPERCLIP_RUN_ID",       "PAPERCLIP_TASK_ID",
                                      "PAPERCLIP_WAKE_REASON", "PAPERCLIP_WORKSPACE_CWD"};

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

Result<std::string> absolute(std::string_view path, const std::string& label) {
  const std::optional<std::string> normalised = normalized_absolute(trimmed(path));
  if (!normalised) return invalid(label + " must be an absolute path.");
  return *normalised;
}

std::string indexed(std::string_view name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

// Builds the policy in the order in which the existing builder checks.
class Builder {
 public:
  Builder(const AdapterConfig& config, const BuilderOptions& options, const Caller& caller)
      : config_(config), options_(options), caller_(caller) {}

  Result<ResolvedPolicy> build() {
    RETURN_IF_ERROR(check_platform(kSystem));
    if (!config_.workspace_scope && !config_.network) {
      return invalid("Local process sandbox requires a filesystem or network scope.");
    }
    RETURN_IF_ERROR(set_directories());
    if (config_.workspace_scope) RETURN_IF_ERROR(set_filesystem());
    RETURN_IF_ERROR(set_network());
    policy().filesystem = config_.workspace_scope ? FilesystemScope::kWorkspace : FilesystemScope::kHost;
    policy().bubblewrap = config_.sandbox_command;
    policy().allow_home_as_workspace = options_.allow_home;
    policy().agent_settings_writable = options_.agent_settings_writable;
    policy().variables.pass = default_pass_list();
    for (const char* name : kRunVariables) policy().variables.pass.emplace_back(name);
    note_unused();
    return std::move(out_);
  }

 private:
  Policy& policy() { return out_.policy; }

  Status set_directories() {
    ASSIGN_OR_RETURN(policy().workspace, absolute(options_.workspace_dir, "Sandbox workspaceDir"));
    ASSIGN_OR_RETURN(policy().working_directory,
                     absolute(options_.cwd.value_or(options_.workspace_dir), "Sandbox cwd"));
    policy().home = caller_.home;
    if (options_.home_dir) {
      ASSIGN_OR_RETURN(policy().home, absolute(*options_.home_dir, "Sandbox homeDir"));
    }
    return {};
  }

  Status set_filesystem() {
    const Policy& p = policy();
    if (!is_inside(p.working_directory, p.workspace)) {
      return invalid("Sandbox cwd \"" + p.working_directory + "\" must be inside workspaceDir \"" + p.workspace +
                     "\".");
    }
    RETURN_IF_ERROR(check_workspace(p.workspace, "Sandbox workspaceDir", options_.allow_home, caller_));
    RETURN_IF_ERROR(set_restore_paths());
    RETURN_IF_ERROR(check_writable_extra_paths());
    RETURN_IF_ERROR(set_grants());
    return set_aliases();
  }

  Status set_restore_paths() {
    for (std::size_t i = 0; i < options_.outbound_restore_paths.size(); ++i) {
      ASSIGN_OR_RETURN(std::string path,
                       absolute(options_.outbound_restore_paths[i], "Sandbox " + indexed("outboundRestorePaths", i)));
      policy().restore_paths.push_back(std::move(path));
    }
    return {};
  }

  // Better no run than writes that nobody brings home.
  Status check_writable_extra_paths() {
    for (std::size_t i = 0; i < config_.extra_paths.size(); ++i) {
      const PathGrant& grant = config_.extra_paths[i];
      if (grant.access != Access::kReadWrite) continue;
      ASSIGN_OR_RETURN(const std::string path, absolute(grant.path, "Sandbox " + indexed("extraPaths", i) + ".path"));
      const bool covered = std::ranges::any_of(policy().restore_paths,
                                               [&](const std::string& restored) { return is_inside(path, restored); });
      if (!covered && !is_inside(path, policy().workspace)) return unmapped(path);
    }
    return {};
  }

  Error unmapped(const std::string& path) {
    return invalid("Writable sandbox path \"" + path + "\" is outside synchronized workspace \"" + policy().workspace +
                   "\" and has no outbound restore mapping.")
        .with_hint("Add the directory " + shell_quoted(parent_of(path)) +
                   " to outboundRestorePaths (on the command line: --restore " + shell_quoted(parent_of(path)) +
                   "), or move the path under workspaceDir, or change its access to \"ro\".");
  }

  Status set_grants() {
    for (std::size_t i = 0; i < options_.managed_paths.size(); ++i) {
      const BuilderOptions::ManagedPath& managed = options_.managed_paths[i];
      ASSIGN_OR_RETURN(std::string path, absolute(managed.path, "Sandbox path"));
      policy().grants.push_back(
          {.path = std::move(path), .access = managed.access, .origin = indexed("managedPaths", i), .optional = true});
    }
    for (const PathGrant& extra : config_.extra_paths) {
      PathGrant grant = extra;
      ASSIGN_OR_RETURN(grant.path, absolute(extra.path, "Sandbox path"));
      policy().grants.push_back(std::move(grant));
    }
    return check_grants(policy().grants);
  }

  Status set_aliases() {
    for (std::size_t i = 0; i < options_.path_aliases.size(); ++i) {
      const std::string label = "Sandbox " + indexed("pathAliases", i);
      PathAlias alias;
      ASSIGN_OR_RETURN(alias.path, absolute(options_.path_aliases[i].path, label + ".path"));
      ASSIGN_OR_RETURN(alias.target, absolute(options_.path_aliases[i].target, label + ".target"));
      if (!is_inside(alias.target, policy().workspace)) {
        return invalid("Sandbox path alias \"" + alias.path + "\" must target the synchronized workspace \"" +
                       policy().workspace + "\".");
      }
      if (alias.path == "/" || (alias.path != policy().workspace && is_inside(policy().workspace, alias.path))) {
        return invalid("Sandbox path alias \"" + alias.path + "\" would cover the workspace.");
      }
      policy().aliases.push_back(std::move(alias));
    }
    return {};
  }

  Status set_network() {
    // A scope that is not set is off: the existing layer leaves that side as it is for the caller.
    policy().network = config_.network.value_or(NetworkScope::kOpen);
    if (policy().network != NetworkScope::kAllowlist) return {};
    policy().allow = config_.allowlist;
    for (const std::string& url : options_.network_trusted_urls) {
      if (auto rule = trusted_rule(url)) policy().allow.push_back(std::move(*rule));
    }
    if (!policy().allow.empty()) return {};
    return invalid(
        "networkScope=\"allowlist\" requires at least one valid networkAllowlist hostname or HTTP(S) "
        "networkTrustedUrl.");
  }

  void note_unused() {
    if (!config_.allowlist.empty() && policy().network != NetworkScope::kAllowlist) {
      out_.notes.emplace_back("networkAllowlist has no effect unless networkScope is \"allowlist\"");
    }
    if (!config_.extra_paths.empty() && !config_.workspace_scope) {
      out_.notes.emplace_back("filesystemExtraPaths has no effect unless filesystemScope is \"workspace\"");
    }
    for (const std::string& key : config_.unused) {
      out_.notes.push_back(key +
                           " is not read from the adapter configuration: the program that starts the run says "
                           "it (docs/paperclip-keys.md)");
    }
  }

  const AdapterConfig& config_;
  const BuilderOptions& options_;
  const Caller& caller_;
  ResolvedPolicy out_;
};

bool has_scope(const AdapterConfig& config) {
  return config.workspace_scope || config.network.has_value();
}

// "workspace filesystem and allowlist network"
std::string scopes_of(const AdapterConfig& config) {
  std::vector<std::string> parts;
  if (config.workspace_scope) parts.emplace_back("workspace filesystem");
  if (config.network) parts.emplace_back(*config.network == NetworkScope::kDeny ? "deny network" : "allowlist network");
  return join(parts, " and ");
}

const Profile* profile_of(std::string_view adapter_type) {
  const auto profile = find_profile(adapter_type);
  return profile ? *profile : nullptr;
}

// The agent's own directories: HOME is the parent of Claude's configuration directory, and CODEX_HOME itself for
// Codex; both variables are set so that the agent finds them whatever HOME says.
Status wire_home(const Profile& profile, const BuilderOptions& options, const Caller& caller, Policy& policy) {
  if (policy.home.empty()) return invalid("The home directory is not known; set HOME or homeDir.");
  const Profile::HomeDirectory& main = profile.directories.front();
  const std::string directory = directory_of(main, policy.home, caller);
  Caller wired = caller;
  if (!main.variable.empty()) {
    put_variable({std::string(main.variable), directory}, policy.variables);
    // Once HOME has moved, the variable alone says where the directory is.
    wired.environment = [&](std::string_view name) -> std::optional<std::string> {
      if (name == main.variable) return directory;
      return caller.environment ? caller.environment(name) : std::nullopt;
    };
    if (!options.home_dir) policy.home = profile.copied_files.empty() ? directory : parent_of(directory);
  }
  add_home(profile, wired, policy);
  return {};
}

}  // namespace

Status check_platform(std::string_view system) {
  if (system == "linux") return {};
  return Error(ErrorCode::kUnsupported,
               "Local process filesystem and network scopes are currently supported only on Linux.");
}

Result<EngineChoice> choose_engine(AdapterEngine engine, bool scoped, std::string_view title, bool strict) {
  if (!scoped || engine == AdapterEngine::kCli) return EngineChoice{};
  const std::string name = title.empty() ? "" : std::string(title) + " ";
  const std::string refusal =
      "Local filesystem/network confinement requires the " + name + "CLI engine; ACP confinement is not supported.";
  if (strict) {
    return Error(ErrorCode::kUnavailable,
                 refusal + " Repair the ACP setup, or explicitly set engine=cli to use the CLI engine.");
  }
  if (engine == AdapterEngine::kAcp) return Error(ErrorCode::kUnsupported, refusal);
  return EngineChoice{"[paperclip] " + name + "ACP default unavailable; falling back to " + name +
                      "CLI. Local filesystem/network scope requires spawn-level confinement in the CLI lane. Set "
                      "engine=acp to require ACP or engine=cli to silence this fallback."};
}

Result<ResolvedPolicy> build_adapter_policy(const AdapterConfig& config, const BuilderOptions& options,
                                            const Caller& caller) {
  return Builder(config, options, caller).build();
}

Result<ResolvedPolicy> resolve_adapter_policy(const AdapterConfig& config, const AdapterRun& run,
                                              const BuilderOptions& options, const Caller& caller) {
  const std::string& type = run.adapter_type.empty() ? config.adapter_type : run.adapter_type;
  const Profile* profile = profile_of(type);
  const std::string_view title = profile == nullptr ? std::string_view() : profile->title;
  ASSIGN_OR_RETURN(const EngineChoice engine,
                   choose_engine(config.engine, has_scope(config), title, run.strict_engine));
  ASSIGN_OR_RETURN(ResolvedPolicy out, build_adapter_policy(config, options, caller));
  if (!engine.notice.empty()) out.notes.insert(out.notes.begin(), engine.notice);
  out.policy.announcement = "[paperclip] Confining " + (title.empty() ? "the agent" : std::string(title)) + " with " +
                            scopes_of(config) + " scope.";
  if (profile == nullptr) return out;
  out.policy.profiles.push_back(type);
  out.policy.nested_sandboxes = profile->nested_sandboxes;
  add_environment(*profile, caller, out.policy);
  if (config.workspace_scope) RETURN_IF_ERROR(wire_home(*profile, options, caller, out.policy));
  return out;
}

}  // namespace cofferdam::domain
