#include "domain/egress_decision.h"

#include <algorithm>
#include <optional>

#include "domain/address_policy.h"

namespace cofferdam::domain {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool allow_port_matches(const NetworkRule& rule, std::uint16_t port) {
  return rule.port ? *rule.port == port : port == kHttpsPort || port == kHttpPort;
}

bool deny_port_matches(const NetworkRule& rule, std::uint16_t port) {
  return !rule.port || *rule.port == port;
}

bool is_strict_subdomain(std::string_view host, std::string_view domain) {
  return host.size() > domain.size() + 1 && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

bool name_matches(const NetworkRule& rule, const std::string& host, const std::optional<IpAddress>& literal) {
  switch (rule.target) {
    case NetworkRule::Target::kHost:
      return rule.host == host;
    case NetworkRule::Target::kSubdomains:
      return !literal && is_strict_subdomain(host, rule.host);
    case NetworkRule::Target::kAddresses:
      if (literal) return covers(rule, *literal);
      // The one name whose addresses are known without asking anybody (RFC 6761).
      return host == "localhost" && (covers(rule, IpAddress::v4(0x7F000001)) || covers(rule, *IpAddress::parse("::1")));
  }
  return false;
}

ContentCheck check_of(const NetworkRule& rule, std::uint16_t port) {
  if (rule.raw || rule.target == NetworkRule::Target::kAddresses) return ContentCheck::kNone;
  if (port == kHttpsPort) return ContentCheck::kTls;
  if (port != kHttpPort) return ContentCheck::kTlsIfTls;
  return rule.port ? ContentCheck::kHttpOrTls : ContentCheck::kHttp;
}

// An address that an IPv6 address leads to counts like the address itself.
bool denies(const NetworkRule& rule, const IpAddress& address) {
  if (covers(rule, address)) return true;
  const std::optional<IpAddress> inner = embedded_ipv4(address);
  return inner && covers(rule, *inner);
}

bool is_fine_for_trusted(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic:
    case AddressKind::kLoopback:
    case AddressKind::kPrivate:
    case AddressKind::kUniqueLocal:
    case AddressKind::kCarrierGrade:
      return true;
    case AddressKind::kUnspecified:
    case AddressKind::kLinkLocal:
    case AddressKind::kMulticast:
    case AddressKind::kBroadcast:
    case AddressKind::kReserved:
    case AddressKind::kMetadata:
      return false;
  }
  return false;
}

}  // namespace

bool covers(const NetworkRule& rule, const IpAddress& address) {
  if (rule.target != NetworkRule::Target::kAddresses) return false;
  if (rule.addresses.contains(address)) return true;
  return rule.host == "localhost" && address == *IpAddress::parse("::1");
}

const NetworkRule* EgressRules::denying_name(const std::string& host, std::uint16_t port) const {
  const std::optional<IpAddress> literal = IpAddress::parse(host);
  for (const NetworkRule& rule : deny_) {
    if (!deny_port_matches(rule, port)) continue;
    // A denied address of localhost leaves its other address to vet().
    if (rule.target == NetworkRule::Target::kAddresses && !literal && rule.host != host) continue;
    if (name_matches(rule, host, literal)) return &rule;
  }
  return nullptr;
}

const NetworkRule* EgressRules::denying_address(const IpAddress& address, std::uint16_t port) const {
  const auto found = std::ranges::find_if(
      deny_, [&](const NetworkRule& rule) { return deny_port_matches(rule, port) && denies(rule, address); });
  return found == deny_.end() ? nullptr : &*found;
}

// Metadata services hand out the credentials of the whole machine: only a rule that names that very address means
// them, not a range that happens to hold it.
const NetworkRule* EgressRules::covering_address(const IpAddress& address, std::uint16_t port) const {
  const bool exact_only = classify(address) == AddressKind::kMetadata;
  for (const NetworkRule& rule : allow_) {
    if (!allow_port_matches(rule, port) || !covers(rule, address)) continue;
    if (!exact_only || rule.addresses.is_single_address()) return &rule;
  }
  return nullptr;
}

Admission EgressRules::admit(const std::string& host, std::uint16_t port, Traffic traffic) const {
  Admission out;
  if (const NetworkRule* rule = denying_name(host, port)) {
    out.rule = rule;
    out.reason = "denied_by_rule";
    return out;
  }
  const std::optional<IpAddress> literal = IpAddress::parse(host);
  for (const NetworkRule& rule : allow_) {
    if (!allow_port_matches(rule, port) || !name_matches(rule, host, literal)) continue;
    const ContentCheck check = check_of(rule, port);
    out.trusted = out.trusted || rule.trusted;
    // Several rules may admit the same destination: the one that asks least of its bytes counts.
    if (out.rule != nullptr && check >= out.check) continue;
    out.rule = &rule;
    out.check = check;
  }
  if (out.rule == nullptr) {
    out.reason = "no_rule";
  } else if (traffic == Traffic::kPlainHttp && out.check == ContentCheck::kTls) {
    out.reason = "plain_http_on_443";
  } else {
    out.allowed = true;
  }
  return out;
}

AddressVerdict EgressRules::vet(const Admission& admission, const IpAddress& address, std::uint16_t port,
                                std::span<const IpAddress> own) const {
  const IpAddress dialled = address.unmapped();
  if (const NetworkRule* rule = denying_address(dialled, port)) return {false, rule, "denied_by_rule"};
  if (const NetworkRule* rule = covering_address(dialled, port)) return {true, rule, {}};
  const AddressKind kind = classify(dialled);
  const std::optional<IpAddress> inner = embedded_ipv4(dialled);
  const bool is_own =
      std::ranges::find(own, dialled) != own.end() || (inner && std::ranges::find(own, *inner) != own.end());
  if (admission.trusted && is_fine_for_trusted(kind)) return {true, admission.rule, {}};
  if (kind != AddressKind::kPublic) return {false, nullptr, "address_" + std::string(to_string(kind))};
  if (is_own) return {false, nullptr, "address_own"};
  return {true, admission.rule, {}};
}

std::vector<LoopbackForward> loopback_forwards(std::span<const NetworkRule> allow) {
  std::vector<LoopbackForward> out;
  const auto add = [&out](const IpAddress& address, std::uint16_t port) {
    LoopbackForward forward{.host = address.to_string(), .port = port};
    if (out.size() < kMaxLoopbackForwards && std::ranges::find(out, forward) == out.end())
      out.push_back(std::move(forward));
  };
  for (const NetworkRule& rule : allow) {
    if (rule.target != NetworkRule::Target::kAddresses || !rule.port) continue;
    if (classify(rule.addresses.network) != AddressKind::kLoopback) continue;
    if (rule.addresses.is_single_address()) {
      add(rule.addresses.network, *rule.port);
    } else if (rule.addresses.contains(IpAddress::v4(0x7F000001))) {
      add(IpAddress::v4(0x7F000001), *rule.port);
    }
    if (rule.host == "localhost") add(*IpAddress::parse("::1"), *rule.port);
  }
  return out;
}

}  // namespace cofferdam::domain
