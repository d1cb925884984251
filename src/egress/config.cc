#include "egress/config.h"

#include <boost/json.hpp>
#include <limits>

namespace cofferdam::egress {
namespace {

namespace json = boost::json;
using domain::NetworkRule;

std::string_view name_of(NetworkRule::Target target) {
  switch (target) {
    case NetworkRule::Target::kHost:
      return "host";
    case NetworkRule::Target::kSubdomains:
      return "subdomains";
    case NetworkRule::Target::kAddresses:
      return "addresses";
  }
  return "host";
}

json::value rule_to_json(const NetworkRule& rule) {
  json::object out;
  out["target"] = name_of(rule.target);
  out["host"] = rule.host;
  if (rule.target == NetworkRule::Target::kAddresses) {
    out["network"] = rule.addresses.network.to_string();
    out["prefix"] = rule.addresses.prefix_bits;
  }
  if (rule.port) out["port"] = *rule.port;
  out["raw"] = rule.raw;
  out["trusted"] = rule.trusted;
  out["text"] = rule.text;
  return out;
}

json::array rules_to_json(const std::vector<NetworkRule>& rules) {
  json::array out;
  for (const NetworkRule& rule : rules) out.push_back(rule_to_json(rule));
  return out;
}

// Reads members of an object that our own writer made: anything unexpected is an error, none is repaired.
class Members {
 public:
  explicit Members(const json::value& value) : object_(value.if_object()) {}

  bool ok() const { return object_ != nullptr && ok_; }
  const json::value* find(std::string_view name) const {
    return object_ == nullptr ? nullptr : object_->if_contains(name);
  }

  std::string text(std::string_view name) {
    const json::value* value = find(name);
    if (value == nullptr || !value->is_string()) return fail(std::string());
    return std::string(value->get_string());
  }
  bool boolean(std::string_view name) {
    const json::value* value = find(name);
    return value != nullptr && value->is_bool() ? value->get_bool() : fail(false);
  }
  template <class T>
  T number(std::string_view name) {
    const json::value* value = find(name);
    boost::json::error_code failure;
    if (value == nullptr) return fail(T{0});
    const T out = value->to_number<T>(failure);
    return failure ? fail(T{0}) : out;
  }
  template <class T>
  std::optional<T> optional_number(std::string_view name) {
    if (find(name) == nullptr) return std::nullopt;
    return number<T>(name);
  }
  const json::array& array(std::string_view name) {
    static const json::array kNone;
    const json::value* value = find(name);
    if (value != nullptr && value->is_array()) return value->get_array();
    ok_ = false;
    return kNone;
  }

 private:
  template <class T>
  T fail(T value) {
    ok_ = false;
    return value;
  }

  const json::object* object_;
  bool ok_ = true;
};

Result<NetworkRule> rule_from_json(const json::value& value) {
  const Error broken(ErrorCode::kInvalidArgument, "a network rule in the proxy's configuration is broken");
  Members members(value);
  NetworkRule rule;
  const std::string target = members.text("target");
  rule.host = members.text("host");
  rule.port = members.optional_number<std::uint16_t>("port");
  rule.raw = members.boolean("raw");
  rule.trusted = members.boolean("trusted");
  rule.text = members.text("text");
  if (target == "addresses") {
    rule.target = NetworkRule::Target::kAddresses;
    const std::optional<domain::IpAddress> network = domain::IpAddress::parse(members.text("network"));
    rule.addresses.prefix_bits = members.number<int>("prefix");
    if (!network || rule.addresses.prefix_bits < 0 || rule.addresses.prefix_bits > (network->is_v6 ? 128 : 32))
      return broken;
    rule.addresses.network = *network;
  } else if (target == "subdomains") {
    rule.target = NetworkRule::Target::kSubdomains;
  } else if (target != "host") {
    return broken;
  }
  if (!members.ok()) return broken;
  return rule;
}

Result<std::vector<NetworkRule>> rules_from_json(const json::array& values) {
  std::vector<NetworkRule> out;
  for (const json::value& value : values) {
    ASSIGN_OR_RETURN(NetworkRule rule, rule_from_json(value));
    out.push_back(std::move(rule));
  }
  return out;
}

json::object bounds_to_json(const EgressBounds& bounds) {
  json::object out;
  out["connections"] = bounds.connections;
  out["head_timeout_ms"] = bounds.head_timeout.count();
  out["idle_timeout_ms"] = bounds.idle_timeout.count();
  out["connect_timeout_ms"] = bounds.connect_timeout.count();
  out["resolver_threads"] = bounds.resolver_threads;
  out["log_bytes"] = bounds.log_bytes;
  return out;
}

bool bounds_from_json(const json::value* value, EgressBounds& bounds) {
  if (value == nullptr) return false;
  Members members(*value);
  bounds.connections = members.number<std::uint32_t>("connections");
  bounds.head_timeout = std::chrono::milliseconds(members.number<std::int64_t>("head_timeout_ms"));
  bounds.idle_timeout = std::chrono::milliseconds(members.number<std::int64_t>("idle_timeout_ms"));
  bounds.connect_timeout = std::chrono::milliseconds(members.number<std::int64_t>("connect_timeout_ms"));
  bounds.resolver_threads = members.number<std::uint32_t>("resolver_threads");
  bounds.log_bytes = members.number<std::uint64_t>("log_bytes");
  return members.ok();
}

Result<json::value> parse_object(std::string_view text, std::string_view what) {
  json::error_code failure;
  json::value value = json::parse(text, failure);
  if (failure || !value.is_object())
    return Error(ErrorCode::kInvalidArgument, std::string(what) + " is not a JSON object");
  return value;
}

}  // namespace

std::string to_json(const EgressConfig& config) {
  json::object out;
  out["run"] = config.run_id;
  out["allow"] = rules_to_json(config.allow);
  out["deny"] = rules_to_json(config.deny);
  out["upstream_proxy"] = config.upstream_proxy;
  out["bounds"] = bounds_to_json(config.bounds);
  if (config.uid) out["uid"] = *config.uid;
  if (config.gid) out["gid"] = *config.gid;
  return json::serialize(out);
}

Result<EgressConfig> egress_config_from_json(std::string_view text) {
  ASSIGN_OR_RETURN(const json::value value, parse_object(text, "the proxy's configuration"));
  Members members(value);
  EgressConfig out;
  out.run_id = members.text("run");
  ASSIGN_OR_RETURN(out.allow, rules_from_json(members.array("allow")));
  ASSIGN_OR_RETURN(out.deny, rules_from_json(members.array("deny")));
  out.upstream_proxy = members.text("upstream_proxy");
  out.uid = members.optional_number<std::uint32_t>("uid");
  out.gid = members.optional_number<std::uint32_t>("gid");
  if (!bounds_from_json(members.find("bounds"), out.bounds) || !members.ok()) {
    return Error(ErrorCode::kInvalidArgument, "the proxy's configuration lacks a member or has one of a wrong kind");
  }
  return out;
}

std::string to_json(const EgressSummary& summary) {
  json::object out;
  out["allowed"] = summary.allowed;
  out["denied"] = summary.denied;
  out["failed"] = summary.failed;
  out["bytes_up"] = summary.bytes_up;
  out["bytes_down"] = summary.bytes_down;
  out["log_failures"] = summary.log_failures;
  json::array refused;
  for (const RefusedDestination& one : summary.refused) {
    refused.push_back(json::object{
        {"host", one.host}, {"port", one.port}, {"reason", one.reason}, {"rule", one.rule}, {"count", one.count}});
  }
  out["refused"] = std::move(refused);
  out["refused_omitted"] = summary.refused_omitted;
  return json::serialize(out);
}

Result<EgressSummary> egress_summary_from_json(std::string_view text) {
  ASSIGN_OR_RETURN(const json::value value, parse_object(text, "the proxy's summary"));
  Members members(value);
  EgressSummary out;
  out.allowed = members.number<std::uint64_t>("allowed");
  out.denied = members.number<std::uint64_t>("denied");
  out.failed = members.number<std::uint64_t>("failed");
  out.bytes_up = members.number<std::uint64_t>("bytes_up");
  out.bytes_down = members.number<std::uint64_t>("bytes_down");
  out.log_failures = members.number<std::uint64_t>("log_failures");
  out.refused_omitted = members.number<std::uint64_t>("refused_omitted");
  bool ok = true;
  for (const json::value& one : members.array("refused")) {
    Members refused(one);
    out.refused.push_back({.host = refused.text("host"),
                           .port = refused.number<std::uint16_t>("port"),
                           .reason = refused.text("reason"),
                           .rule = refused.text("rule"),
                           .count = refused.number<std::uint64_t>("count")});
    ok = ok && refused.ok();
  }
  if (!ok || !members.ok()) return Error(ErrorCode::kInvalidArgument, "the proxy's summary is broken");
  return out;
}

}  // namespace cofferdam::egress
