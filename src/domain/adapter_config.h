// Paperclip's adapter configuration: the keys with which an operator confines a local agent there. Accepted values and
// error texts are those of the existing layer, except where it was unsafe (docs/differences.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/policy.h"

namespace cofferdam::domain {

enum class AdapterEngine : std::uint8_t { kAuto, kCli, kAcp };

struct AdapterConfig {
  bool workspace_scope = false;         // filesystemScope: "workspace"
  std::optional<NetworkScope> network;  // kDeny or kAllowlist; absent: off
  std::vector<PathGrant> extra_paths;   // filesystemExtraPaths
  std::string sandbox_command = "bwrap";
  std::vector<NetworkRule> allowlist;
  AdapterEngine engine = AdapterEngine::kAuto;
  std::string adapter_type;         // "claude_local" when the JSON says so, else empty
  std::vector<std::string> unused;  // keys of the builder found here, where they mean nothing
};

// A whole adapter configuration, or an agent with `adapterType` and `adapterConfig`. At most 1 MiB. Keys of other
// concerns are left alone; keys that look like a mistyped one of ours are errors.
Result<AdapterConfig> parse_adapter_config(std::string_view json);

// One entry of networkAllowlist; `index` for the message.
Result<NetworkRule> parse_allowlist_entry(std::string_view text, std::size_t index);

// A control-plane URL as a rule with host and port pinned. Nothing when it is not an http or https URL.
std::optional<NetworkRule> trusted_rule(std::string_view url);

}  // namespace cofferdam::domain
