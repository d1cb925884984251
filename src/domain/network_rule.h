// One network rule as an operator writes it, and its meaning. Pure values; names are never resolved here.
//
//   api.example.com            port 443, and port 80 for plain HTTP
//   https://api.example.com    the same
//   api.example.com:8443       that port only
//   *.example.com[:PORT]       strict sub-domains, never of a public suffix
//   localhost:5432, 127.0.0.1:5432, [::1]:5432, 10.0.0.0/8:5432, [fd00::]/8   addresses: these also cover
//                              private, loopback and link-local destinations, which no name rule does
//   any of these + "/raw"      bytes on 443 need not be TLS with a matching server name
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cofferdam::domain {

struct IpAddress {
  // Network byte order; an IPv4 address uses the first four bytes.
  std::array<std::uint8_t, 16> bytes{};
  bool is_v6 = false;

  bool operator==(const IpAddress&) const = default;

  // Every numeric spelling that a C library or URL parser accepts (127.1, 0x7f.0.0.1, 2130706433, [::1]).
  static std::optional<IpAddress> parse(std::string_view text);
  static IpAddress v4(std::uint32_t host_order);
  // The IPv4 address that an IPv4-mapped IPv6 address (::ffff:a.b.c.d) means; any other address unchanged.
  IpAddress unmapped() const;
  std::string to_string() const;
};

struct Cidr {
  IpAddress network;
  int prefix_bits = 0;

  bool operator==(const Cidr&) const = default;
  // An IPv4-mapped IPv6 address counts as the IPv4 address it means.
  bool contains(const IpAddress& address) const;
  bool is_single_address() const;
};

struct NetworkRule {
  enum class Target : std::uint8_t { kHost, kSubdomains, kAddresses };

  Target target = Target::kHost;
  // Canonical: lower case, A-label, no trailing dot. kHost: the host; kSubdomains: the domain above the hosts;
  // kAddresses: "localhost" when the rule was written with that name (it then covers ::1 too), else empty.
  std::string host;
  Cidr addresses;  // kAddresses
  // Absent in an allow rule: 443, and 80 for plain HTTP. Absent in a deny rule: every port.
  std::optional<std::uint16_t> port;
  bool raw = false;
  bool trusted = false;  // a control-plane URL: its name may resolve to a private address
  std::string text;      // as written, for messages and logs
  std::string origin;    // who asked for it: "--allow", "profile claude_local"; empty when nobody said

  bool operator==(const NetworkRule&) const = default;
};

// Our own grammar (above). Errors name the rule and say what is wrong with it.
Result<NetworkRule> parse_network_rule(std::string_view text);

// `host` in the one form in which hosts are compared: numeric spellings decoded, IDN to A-labels, lower case,
// one trailing dot and IPv6 brackets removed. Error when it cannot be a host.
Result<std::string> canonical_host(std::string_view host);

}  // namespace cofferdam::domain
