// The three texts that reach the policy from outside: a policy file, an adapter configuration, single flag values. The
// first byte chooses. What is accepted is resolved too, and must hold what the plan relies on.
//
// links: cofferdam_domain
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "domain/adapter_policy.h"
#include "domain/path.h"
#include "domain/policy_file.h"
#include "domain/policy_resolve.h"

namespace {

using namespace cofferdam;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_normal(std::string_view path) {
  return domain::normalized_absolute(path) == path;
}

domain::Caller caller() {
  return {.current_directory = "/work/project",
          .home = "/home/me",
          .is_root = false,
          .environment = [](std::string_view) -> std::optional<std::string> { return std::nullopt; }};
}

void check(const domain::Policy& policy) {
  require(is_normal(policy.workspace) && is_normal(policy.working_directory));
  for (const auto* grants : {&policy.grants, &policy.home_paths}) {
    for (const domain::PathGrant& grant : *grants) require(is_normal(grant.path) && grant.path != "/");
  }
  for (const std::string& path : policy.protect) require(domain::is_inside(path, policy.workspace));
  for (const domain::PathAlias& alias : policy.aliases) {
    require(is_normal(alias.path) && domain::is_inside(alias.target, policy.workspace));
  }
  if (policy.filesystem == domain::FilesystemScope::kWorkspace) {
    require(policy.workspace != "/" && !domain::is_inside("/home/me", policy.workspace));
    require(domain::is_inside(policy.working_directory, policy.workspace));
  }
  require(policy.network != domain::NetworkScope::kAllowlist || !policy.allow.empty());
}

void policy_file(std::string_view text) {
  const auto settings = domain::parse_policy_file(text, {"p.yaml", "/work/project", "/home/me"});
  if (!settings) {
    require(!settings.error().empty());
    return;
  }
  const auto resolved = domain::resolve_policy(*settings, {}, caller());
  // The home itself is a workspace only when the file says allow-home.
  if (resolved && !resolved->policy.allow_home_as_workspace) check(resolved->policy);
}

void adapter_config(std::string_view text) {
  const auto config = domain::parse_adapter_config(text);
  if (!config) return;
  domain::BuilderOptions options;
  options.workspace_dir = "/work/project";
  const auto resolved = domain::resolve_adapter_policy(*config, {}, options, caller());
  if (!resolved) return;
  check(resolved->policy);
  for (const domain::PathGrant& grant : resolved->policy.grants) {
    require(grant.access == domain::Access::kReadOnly || domain::is_inside(grant.path, "/work/project"));
  }
}

void flag(std::string_view text) {
  if (text.empty()) return;
  const auto specs = domain::setting_specs();
  const domain::SettingSpec& spec = specs[static_cast<unsigned char>(text.front()) % specs.size()];
  if (!spec.is_flag) return;
  domain::PolicySettings flags;
  const domain::SettingSource source{"--" + std::string(spec.name), "/work/project", "/home/me"};
  if (!domain::apply_flag(spec, flags, text.substr(1), source)) return;
  const auto resolved = domain::resolve_policy({}, flags, caller());
  if (resolved) check(resolved->policy);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      policy_file(text);
      break;
    case 1:
      adapter_config(text);
      break;
    default:
      flag(text);
  }
  return 0;
}
