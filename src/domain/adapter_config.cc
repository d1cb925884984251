#include "domain/adapter_config.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/strings.h"
#include "domain/origin_url.h"
#include "domain/path.h"
#include "domain/suggestion.h"

namespace cofferdam::domain {
namespace {

namespace json = boost::json;
using Text = std::string_view;

constexpr std::size_t kLargestConfig = std::size_t{1} << 20;  // bytes
constexpr std::size_t kDeepestConfig = 64;
constexpr std::size_t kMostEntries = 10'000;  // of one list

constexpr std::array kKeys = {Text{"filesystemScope"}, Text{"filesystemExtraPaths"}, Text{"filesystemSandboxCommand"},
                              Text{"networkScope"}, Text{"networkAllowlist"}};
// Options of the builder, which the program that starts a run gives and not the agent's configuration.
constexpr std::array kBuilderKeys = {Text{"managedPaths"}, Text{"pathAliases"}, Text{"outboundRestorePaths"},
                                     Text{"homeDir"}, Text{"networkTrustedUrls"}};

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

// Absent, null and "" mean "not set" for every key here.
const json::value* value_of(const json::object& config, Text key) {
  const json::value* value = config.if_contains(key);
  if (value == nullptr || value->is_null()) return nullptr;
  if (value->is_string() && value->get_string().empty()) return nullptr;
  return value;
}

bool is_text(const json::value* value, Text text) {
  return value->is_string() && Text(value->get_string()) == text;
}

Result<const json::array*> list_of(const json::object& config, Text key) {
  static const json::array kNone;
  const json::value* value = config.if_contains(key);
  if (value == nullptr || value->is_null()) return &kNone;
  if (!value->is_array()) return invalid(std::string(key) + " must be an array.");
  if (value->get_array().size() > kMostEntries) {
    return invalid(std::string(key) + " has more than " + std::to_string(kMostEntries) + " entries.");
  }
  return &value->get_array();
}

// "fileSystemScope", "networkAllowList", "network_scope": a setting that silently does nothing is an open door.
Status check_near_misses(const json::object& config) {
  for (const auto& member : config) {
    const Text key = member.key();
    if (std::ranges::find(kKeys, key) != kKeys.end() || !is_near_miss(key, kKeys)) continue;
    return invalid("\"" + printable(key) + "\" is not a key of the adapter configuration; did you mean \"" +
                   std::string(nearest_word(key, kKeys)) + "\"?");
  }
  return {};
}

// ---------------------------------------------------------------------------------------------------- file system

Status read_filesystem_scope(const json::object& config, AdapterConfig& out) {
  const json::value* value = value_of(config, "filesystemScope");
  if (value == nullptr) return {};
  if (!is_text(value, "workspace")) return invalid("filesystemScope must be \"workspace\".");
  out.workspace_scope = true;
  return {};
}

Result<PathGrant> grant_of_text(const json::string& text, std::string label) {
  const std::optional<std::string> path = normalized_absolute(trimmed(Text(text)));
  if (!path) return invalid(label + " must be an absolute path.");
  return PathGrant{.path = *path, .origin = std::move(label)};
}

Result<PathGrant> grant_of_object(const json::object& entry, const std::string& label) {
  const json::value* path = entry.if_contains("path");
  const json::value* access = entry.if_contains("access");
  const bool unset = access == nullptr || access->is_null();
  const bool writable = !unset && is_text(access, "rw");
  if ((!unset && !writable && !is_text(access, "ro")) || path == nullptr || !path->is_string()) {
    return invalid(label + " must use access \"ro\" or \"rw\" and an absolute path.");
  }
  const std::optional<std::string> normalised = normalized_absolute(trimmed(Text(path->get_string())));
  if (!normalised) return invalid(label + ".path must be an absolute path.");
  return PathGrant{.path = *normalised, .access = writable ? Access::kReadWrite : Access::kReadOnly, .origin = label};
}

Status read_extra_paths(const json::object& config, AdapterConfig& out) {
  ASSIGN_OR_RETURN(const json::array* entries, list_of(config, "filesystemExtraPaths"));
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const json::value& entry = (*entries)[i];
    const std::string label = "filesystemExtraPaths[" + std::to_string(i) + "]";
    if (!entry.is_string() && !entry.is_object()) {
      return invalid(label + " must be an absolute path or { path, access } object.");
    }
    ASSIGN_OR_RETURN(PathGrant grant, entry.is_string() ? grant_of_text(entry.get_string(), label)
                                                        : grant_of_object(entry.get_object(), label));
    out.extra_paths.push_back(std::move(grant));
  }
  return {};
}

Status read_sandbox_command(const json::object& config, AdapterConfig& out) {
  const json::value* value = value_of(config, "filesystemSandboxCommand");
  if (value == nullptr) return {};
  if (!value->is_string()) return invalid("filesystemSandboxCommand must be a string.");
  const Text command = trimmed(Text(value->get_string()));
  if (command.contains('\0')) return invalid("filesystemSandboxCommand must not hold a NUL character.");
  if (!command.empty()) out.sandbox_command = command;
  return {};
}

// -------------------------------------------------------------------------------------------------------- network

Status read_network_scope(const json::object& config, AdapterConfig& out) {
  const json::value* value = value_of(config, "networkScope");
  if (value == nullptr) return {};
  if (is_text(value, "deny")) {
    out.network = NetworkScope::kDeny;
  } else if (is_text(value, "allowlist")) {
    out.network = NetworkScope::kAllowlist;
  } else {
    return invalid("networkScope must be \"deny\" or \"allowlist\".");
  }
  return {};
}

Status read_allowlist(const json::object& config, AdapterConfig& out) {
  ASSIGN_OR_RETURN(const json::array* entries, list_of(config, "networkAllowlist"));
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const json::value& entry = (*entries)[i];
    if (!entry.is_string()) return invalid("networkAllowlist[" + std::to_string(i) + "] must be a string.");
    ASSIGN_OR_RETURN(NetworkRule rule, parse_allowlist_entry(Text(entry.get_string()), i));
    out.allowlist.push_back(std::move(rule));
  }
  return {};
}

// --------------------------------------------------------------------------------------------------------- engine

Status read_engine(const json::object& config, AdapterConfig& out) {
  const json::value* value = value_of(config, "engine");
  if (value == nullptr || is_text(value, "auto")) return {};
  if (is_text(value, "cli")) {
    out.engine = AdapterEngine::kCli;
  } else if (is_text(value, "acp")) {
    out.engine = AdapterEngine::kAcp;
  } else {
    return invalid("engine must be \"auto\", \"cli\" or \"acp\".");
  }
  return {};
}

void read_adapter_type(const json::object& object, AdapterConfig& out) {
  const json::value* value = object.if_contains("adapterType");
  if (value != nullptr && value->is_string()) out.adapter_type = trimmed(Text(value->get_string()));
}

void note_unused(const json::object& config, AdapterConfig& out) {
  for (const Text key : kBuilderKeys) {
    if (config.contains(key)) out.unused.emplace_back(key);
  }
}

Result<json::value> parsed(Text text) {
  if (text.size() > kLargestConfig) {
    return invalid("The adapter configuration is larger than " + std::to_string(kLargestConfig) + " bytes.");
  }
  json::parse_options options;
  options.max_depth = kDeepestConfig;
  json::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (error) return invalid("The adapter configuration is not JSON: " + error.message() + ".");
  return value;
}

Result<AdapterConfig> read_config(const json::object& config) {
  AdapterConfig out;
  RETURN_IF_ERROR(check_near_misses(config));
  RETURN_IF_ERROR(read_filesystem_scope(config, out));
  RETURN_IF_ERROR(read_extra_paths(config, out));
  RETURN_IF_ERROR(read_sandbox_command(config, out));
  RETURN_IF_ERROR(read_network_scope(config, out));
  RETURN_IF_ERROR(read_allowlist(config, out));
  RETURN_IF_ERROR(read_engine(config, out));
  read_adapter_type(config, out);
  note_unused(config, out);
  return out;
}

std::string rule_text(const OriginUrl& url, std::optional<std::uint16_t> port) {
  return port ? url.host + ":" + std::to_string(*port) : url.host;
}

}  // namespace

Result<AdapterConfig> parse_adapter_config(std::string_view text) {
  ASSIGN_OR_RETURN(const json::value value, parsed(text));
  if (!value.is_object()) return invalid("The adapter configuration must be a JSON object.");
  const json::object& object = value.get_object();
  const json::value* inner = object.if_contains("adapterConfig");
  if (inner == nullptr) return read_config(object);
  if (!inner->is_object()) return invalid("adapterConfig must be a JSON object.");
  ASSIGN_OR_RETURN(AdapterConfig out, read_config(inner->get_object()));
  read_adapter_type(object, out);
  return out;
}

Result<NetworkRule> parse_allowlist_entry(std::string_view text, std::size_t index) {
  const std::string label = "networkAllowlist[" + std::to_string(index) + "]";
  const std::string form = label + " must be a hostname, hostname:port, or origin URL.";
  const std::string_view entry = trimmed(text);
  if (entry.empty()) return invalid(label + " must not be empty.");
  const auto url = parse_origin_url(entry.contains("://") ? std::string(entry) : "https://" + std::string(entry));
  if (!url || !url->bare) return invalid(form);
  if (url->host.contains('*')) {
    return invalid(label + " must use an exact hostname; wildcards are not supported.");
  }
  // Bare hosts and https origins mean 443, and 80 for plain HTTP: what a rule without a port means.
  const bool usual = url->default_port() == 443;
  const auto port = url->port || usual ? url->port : std::optional(url->default_port());
  auto rule = parse_network_rule(rule_text(*url, port));
  if (!rule) return invalid(form).with_hint(rule.error().message());
  rule->text = entry;
  rule->origin = label;
  return std::move(*rule);
}

std::optional<NetworkRule> trusted_rule(std::string_view text) {
  const auto url = parse_origin_url(text);
  if (!url || !url->scheme.starts_with("http") || url->host.contains('*')) return std::nullopt;
  auto rule = parse_network_rule(rule_text(*url, url->port.value_or(url->default_port())));
  if (!rule) return std::nullopt;
  rule->trusted = true;
  rule->origin = "networkTrustedUrls";
  rule->text = trimmed(text);
  return std::move(*rule);
}

}  // namespace cofferdam::domain
