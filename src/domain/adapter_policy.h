// From Paperclip's adapter configuration and what the starting program adds to it, to a Policy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/adapter_config.h"
#include "domain/policy_resolve.h"

namespace cofferdam::domain {

// What the program that starts the run knows and the agent's configuration does not say. Paths as given: they are
// checked here, in the order and with the texts of the existing builder.
struct BuilderOptions {
  struct ManagedPath {
    std::string path;
    Access access = Access::kReadOnly;
  };
  std::string workspace_dir;
  std::optional<std::string> cwd;                   // absent: workspace_dir
  std::vector<ManagedPath> managed_paths;           // the adapter's own; exempt from the restore check
  std::vector<PathAlias> path_aliases;              // targets lie in the workspace
  std::vector<std::string> outbound_restore_paths;  // for which somebody copies changes back
  std::optional<std::string> home_dir;
  std::vector<std::string> network_trusted_urls;  // control plane; host and port pinned
  bool allow_home = false;                        // the home directory itself may be the workspace
  bool agent_settings_writable = false;           // settings, hooks … in the agent's directories may change
};

// The lane of an agent that could speak ACP, when a scope is set. An ACP agent started through our own launcher is
// confined like any command: these rules are for the adapters' own start path.
struct EngineChoice {
  std::string notice;  // to be shown; empty when there is nothing to say
};

// `title` is "Claude" or "Codex". `strict` refuses "auto" too, as later releases of the adapters do.
Result<EngineChoice> choose_engine(AdapterEngine engine, bool has_scope, std::string_view title, bool strict);

// Checks in this order: platform, one scope at least, workspace, working directory, restore paths, writable extra
// paths, managed paths, aliases, network. Variables hold the default pass list. Nothing is looked up on the host.
Result<ResolvedPolicy> build_adapter_policy(const AdapterConfig& config, const BuilderOptions& options,
                                            const Caller& caller);

// The whole of it for one adapter: engine, policy, the adapter's home directories and environment, and the line
// "[paperclip] Confining Claude with …". `adapter_type` wins over the configuration's; empty or not one of ours: no
// wiring.
struct AdapterRun {
  std::string adapter_type;
  bool strict_engine = false;
};
Result<ResolvedPolicy> resolve_adapter_policy(const AdapterConfig& config, const AdapterRun& run,
                                              const BuilderOptions& options, const Caller& caller);

// Error unless the platform is Linux; `system` as in the name of a target ("linux", "darwin").
Status check_platform(std::string_view system);

}  // namespace cofferdam::domain
