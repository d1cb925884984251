#include "domain/profile_apply.h"

#include "domain/path.h"

namespace cofferdam::domain {
namespace {

std::optional<std::string> variable_of(const Caller& caller, std::string_view name) {
  if (name.empty() || !caller.environment) return std::nullopt;
  return caller.environment(name);
}

std::string origin_of(const Profile& profile) {
  return "profile " + std::string(profile.name);
}

// In ~/.claude.json a new MCP server is a program that starts unconfined the next time, and a trust answer lets a
// project bring its own.
std::vector<std::string> guarded_members_of(std::string_view file) {
  if (file != ".claude.json") return {};
  return {"mcpServers",
          "apiKeyHelper",
          "env",
          "bypassPermissionsModeAccepted",
          "projects.*.mcpServers",
          "projects.*.env",
          "projects.*.allowedTools",
          "projects.*.enabledMcpjsonServers",
          "projects.*.disabledMcpjsonServers",
          "projects.*.enableAllProjectMcpServers",
          "projects.*.hasTrustDialogAccepted",
          "projects.*.hasTrustDialogHooksAccepted",
          "projects.*.hasClaudeMdExternalIncludesApproved"};
}

PathGrant::Placeholder placeholder_of(const Profile::Guarded& guarded) {
  if (guarded.stays_absent) return PathGrant::Placeholder::kAbsence;
  return guarded.is_directory ? PathGrant::Placeholder::kDirectory : PathGrant::Placeholder::kFile;
}

void add_guarded(const Profile& profile, const Profile::HomeDirectory& directory, const std::string& root,
                 Policy& policy) {
  for (const Profile::Guarded& guarded : directory.guarded) {
    policy.home_paths.push_back({.path = joined(root, guarded.path),
                                 .access = Access::kReadOnly,
                                 .origin = origin_of(profile) + " (agent settings)",
                                 .optional = true,
                                 .placeholder = placeholder_of(guarded)});
  }
}

void add_certificates(const Profile& profile, const Caller& caller, Policy& policy) {
  for (const std::string_view variable : profile.ca_variables) {
    policy.variables.pass.emplace_back(variable);
    const std::optional<std::string> value = variable_of(caller, variable);
    const std::optional<std::string> path = value ? normalized_absolute(*value) : std::nullopt;
    if (path) policy.grants.push_back({.path = *path, .origin = std::string(variable), .optional = true});
  }
}

}  // namespace

Result<std::vector<NetworkRule>> host_rules(const Profile& profile) {
  std::vector<NetworkRule> rules;
  for (const std::string_view host : profile.hosts) {
    ASSIGN_OR_RETURN(NetworkRule rule, in_context(parse_network_rule(host), origin_of(profile)));
    rule.origin = origin_of(profile);
    rules.push_back(std::move(rule));
  }
  return rules;
}

void add_environment(const Profile& profile, const Caller& caller, Policy& policy) {
  policy.variables.pass.insert(policy.variables.pass.end(), profile.pass.begin(), profile.pass.end());
  for (const Profile::Setting& setting : profile.set) {
    policy.variables.set.push_back({std::string(setting.name), std::string(setting.value)});
  }
  if (profile.refuses_root && caller.is_root) policy.variables.set.push_back({"IS_SANDBOX", "1"});
  for (const Profile::HomeDirectory& directory : profile.directories) {
    if (!directory.variable.empty()) policy.variables.pass.emplace_back(directory.variable);
  }
  add_certificates(profile, caller, policy);
}

std::string directory_of(const Profile::HomeDirectory& directory, const std::string& home, const Caller& caller) {
  const std::optional<std::string> moved = variable_of(caller, directory.variable);
  const std::optional<std::string> path = moved ? normalized_absolute(*moved) : std::nullopt;
  if (!path) return joined(home, directory.path);
  return directory.below.empty() ? *path : joined(*path, directory.below);
}

void add_home(const Profile& profile, const Caller& caller, Policy& policy) {
  for (const Profile::HomeDirectory& directory : profile.directories) {
    const std::string root = directory_of(directory, policy.home, caller);
    policy.home_paths.push_back(
        {.path = root, .access = Access::kReadWrite, .origin = origin_of(profile), .optional = true});
    if (!policy.agent_settings_writable) add_guarded(profile, directory, root, policy);
  }
  for (const std::string_view file : profile.copied_files) {
    HomeFileCopy copy{.name = std::string(file), .guarded_members = {}};
    if (!policy.agent_settings_writable) copy.guarded_members = guarded_members_of(file);
    policy.home_files.push_back(copy);
    const Profile::HomeDirectory& main = profile.directories.front();
    if (const auto moved = variable_of(caller, main.variable); moved && normalized_absolute(*moved)) {
      copy.name = joined(directory_of(main, policy.home, caller), file);
      policy.home_files.push_back(std::move(copy));
    }
  }
  for (const Profile::SystemFile& file : profile.system_files) {
    policy.system_files.push_back(
        {.path = std::string(file.path), .content = std::string(file.content), .origin = origin_of(profile)});
  }
}

}  // namespace cofferdam::domain
