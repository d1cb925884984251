#include "domain/network_rule.h"

#include <arpa/inet.h>
#include <libpsl.h>

#include <algorithm>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

constexpr std::size_t kMaxRuleBytes = 1024;

Error bad_rule(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalidArgument, "network rule \"" + printable(text) + "\" " + std::string(why)};
}

// The pieces of a rule as text; `host` still has brackets or "*.".
struct RuleText {
  std::string_view host;
  std::optional<std::string_view> prefix;
  std::optional<std::string_view> port;
};

Result<std::string_view> without_scheme(std::string_view whole, std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return text;
  const std::string scheme = ascii_lower(text.substr(0, mark));
  if (scheme != "https" && scheme != "http") return bad_rule(whole, "has a scheme other than https and http");
  text.remove_prefix(mark + 3);
  if (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// "HOST", "HOST/PREFIX", each with ":PORT".
Result<RuleText> split_rule(std::string_view whole, std::string_view text) {
  RuleText out;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return bad_rule(whole, "has \"[\" without \"]\"");
    out.host = text.substr(0, end + 1);
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find_first_of("/:"), text.size());
    out.host = text.substr(0, end);
    rest = text.substr(end);
    if (std::ranges::count(text, ':') > 1)
      return bad_rule(whole, "looks like an IPv6 address: write it in brackets, [::1]:PORT");
  }
  if (rest.starts_with('/')) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    out.prefix = rest.substr(1, end - 1);
    rest = rest.substr(end);
  }
  if (rest.starts_with(':')) {
    out.port = rest.substr(1);
    rest = {};
  }
  if (!rest.empty()) return bad_rule(whole, "has something after the address");
  return out;
}

Result<std::uint16_t> parse_port(std::string_view whole, std::string_view text) {
  const std::optional<std::uint64_t> port = parse_decimal(text);
  if (!port || *port == 0 || *port > 65535) return bad_rule(whole, "has a port that is not a number from 1 to 65535");
  return static_cast<std::uint16_t>(*port);
}

Result<Cidr> parse_cidr(std::string_view whole, std::string_view host, std::string_view prefix) {
  Cidr out;
  const std::string inner(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
  out.network.is_v6 = host.starts_with('[');
  if (::inet_pton(out.network.is_v6 ? AF_INET6 : AF_INET, inner.c_str(), out.network.bytes.data()) != 1) {
    return bad_rule(whole, "has a path; a rule names a host, a port or an address range like 10.0.0.0/8");
  }
  const std::optional<std::uint64_t> bits = parse_decimal(prefix);
  const std::uint64_t most = out.network.is_v6 ? 128 : 32;
  if (!bits || *bits > most)
    return bad_rule(whole, "has a prefix length that is not a number from 0 to " + std::to_string(most));
  out.prefix_bits = static_cast<int>(*bits);
  Cidr masked = out;
  for (std::size_t bit = *bits; bit < most; ++bit) {
    masked.network.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80 >> (bit % 8)));
  }
  if (masked != out) {
    const std::string network = masked.network.to_string();
    return bad_rule(whole, "has address bits beyond its prefix length; did you mean " +
                               (out.network.is_v6 ? "[" + network + "]" : network) + "/" + std::to_string(*bits) + "?");
  }
  return out;
}

// A rule for every sub-domain of a name under which strangers can register would be no rule at all.
bool is_public_suffix(const std::string& domain) {
  return ::psl_is_public_suffix2(::psl_builtin(), domain.c_str(), PSL_TYPE_ANY) != 0;
}

Result<NetworkRule> parse_subdomains(NetworkRule rule, std::string_view host) {
  rule.target = NetworkRule::Target::kSubdomains;
  host.remove_prefix(2);
  if (host.contains('*')) return bad_rule(rule.text, "has a wildcard that is not its first label");
  const Result<std::string> domain = canonical_host(host);
  if (!domain) return bad_rule(rule.text, "is wrong: " + domain.error().message());
  if (IpAddress::parse(*domain)) return bad_rule(rule.text, "has a wildcard before an address");
  if (is_public_suffix(*domain)) {
    return bad_rule(rule.text,
                    "covers every name under the public suffix \"" + *domain + "\"; name one registered domain");
  }
  rule.host = *domain;
  return rule;
}

Result<NetworkRule> parse_host(NetworkRule rule, std::string_view host) {
  if (host.contains('*'))
    return bad_rule(rule.text, "has a wildcard that is not its first label: only \"*.example.com\" is possible");
  const Result<std::string> name = canonical_host(host);
  if (!name) return bad_rule(rule.text, "is wrong: " + name.error().message());
  if (*name == "localhost") {
    rule.target = NetworkRule::Target::kAddresses;
    rule.host = *name;
    rule.addresses = Cidr{.network = IpAddress::v4(0x7F000001), .prefix_bits = 32};
    return rule;
  }
  if (const std::optional<IpAddress> address = IpAddress::parse(*name)) {
    rule.target = NetworkRule::Target::kAddresses;
    rule.addresses = Cidr{.network = *address, .prefix_bits = address->is_v6 ? 128 : 32};
    return rule;
  }
  rule.host = *name;
  return rule;
}

}  // namespace

Result<NetworkRule> parse_network_rule(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return Error(ErrorCode::kInvalidArgument, "a network rule is empty");
  if (text.size() > kMaxRuleBytes) return bad_rule(text.substr(0, 64), "is too long");
  NetworkRule rule;
  rule.text = text;
  std::string_view rest = text;
  constexpr std::string_view kRaw = "/raw";
  if (rest.ends_with(kRaw)) {
    rule.raw = true;
    rest.remove_suffix(kRaw.size());
  }
  ASSIGN_OR_RETURN(rest, without_scheme(text, rest));
  if (rest.contains('@')) return bad_rule(text, "has a user name");
  if (rest.find_first_of("?#") != std::string_view::npos) return bad_rule(text, "has a query or a fragment");
  ASSIGN_OR_RETURN(const RuleText pieces, split_rule(text, rest));
  if (pieces.port) {
    ASSIGN_OR_RETURN(rule.port, parse_port(text, *pieces.port));
  }
  if (pieces.prefix) {
    rule.target = NetworkRule::Target::kAddresses;
    ASSIGN_OR_RETURN(rule.addresses, parse_cidr(text, pieces.host, *pieces.prefix));
    return rule;
  }
  if (pieces.host == "*") return bad_rule(text, "covers every host: use the open network scope if that is meant");
  if (pieces.host.starts_with("*.")) return parse_subdomains(std::move(rule), pieces.host);
  return parse_host(std::move(rule), pieces.host);
}

}  // namespace cofferdam::domain
