#include "cli/adapter_options.h"

#include "domain/adapter_policy.h"
#include "domain/path.h"

namespace cofferdam::cli {
namespace {

using domain::Given;
using domain::PolicySettings;

Error not_beside(const std::string& where, std::string_view key) {
  return Error(ErrorCode::kInvalidArgument, where + " cannot stand beside --adapter-config")
      .with_hint("Set " + std::string(key) + " in the adapter configuration.");
}

// What the adapter configuration decides alone.
Status check_settings(const PolicySettings& settings) {
  if (settings.filesystem) return not_beside(settings.filesystem->where, "filesystemScope");
  if (settings.network) return not_beside(settings.network->where, "networkScope");
  if (!settings.deny.empty()) return not_beside(settings.deny.front().where, "networkAllowlist");
  for (const domain::PathGrant& grant : settings.grants) {
    if (grant.access == domain::Access::kReadWrite) return not_beside(grant.origin, "filesystemExtraPaths");
  }
  if (settings.profiles.size() > 1) {
    return Error(ErrorCode::kInvalidArgument, settings.profiles[1].where + ": --adapter-config takes one profile")
        .with_hint("Name the adapter that the configuration belongs to.");
  }
  return {};
}

domain::BuilderOptions builder_options(const PolicySettings& settings, const domain::Caller& caller) {
  domain::BuilderOptions options;
  options.workspace_dir = settings.workspace ? settings.workspace->value : caller.current_directory;
  if (settings.working_directory) options.cwd = settings.working_directory->value;
  if (settings.home) options.home_dir = settings.home->value;
  for (const domain::PathGrant& grant : settings.grants) options.managed_paths.push_back({grant.path, grant.access});
  for (const Given<std::string>& path : settings.restore) options.outbound_restore_paths.push_back(path.value);
  for (const Given<domain::PathAlias>& alias : settings.aliases) {
    const std::string& target = alias.value.target;
    options.path_aliases.push_back(
        {alias.value.path, target.starts_with('/') ? target : domain::joined(options.workspace_dir, target)});
  }
  options.allow_home = settings.allow_home && settings.allow_home->value;
  options.agent_settings_writable = settings.agent_settings_writable && settings.agent_settings_writable->value;
  for (const char* name : {"PAPERCLIP_API_URL", "PAPERCLIP_RUNTIME_API_URL"}) {
    const auto url = caller.environment(name);
    if (!url || url->empty()) continue;
    options.network_trusted_urls.push_back(*url);
    break;
  }
  return options;
}

// What the adapter keys do not know and flags may add.
Status add_settings(const PolicySettings& settings, domain::Policy& policy) {
  policy.limits = domain::limits_of(settings);
  domain::apply_variables(settings, policy.variables);
  if (settings.nested) policy.nested_sandboxes = settings.nested->value;
  if (settings.bubblewrap) policy.bubblewrap = settings.bubblewrap->value;
  policy.git_config_writable = settings.git_config_writable && settings.git_config_writable->value;
  return domain::add_protected(settings, policy);
}

}  // namespace

Result<domain::ResolvedPolicy> policy_of_adapter(std::string_view json, const PolicySettings& settings,
                                                 const domain::Caller& caller) {
  RETURN_IF_ERROR(check_settings(settings));
  ASSIGN_OR_RETURN(const domain::AdapterConfig config, domain::parse_adapter_config(json));
  domain::AdapterRun run;
  if (!settings.profiles.empty()) run.adapter_type = settings.profiles.front().value;
  ASSIGN_OR_RETURN(domain::ResolvedPolicy out,
                   domain::resolve_adapter_policy(config, run, builder_options(settings, caller), caller));
  RETURN_IF_ERROR(add_settings(settings, out.policy));
  return out;
}

}  // namespace cofferdam::cli
