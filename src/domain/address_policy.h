// What an address is, for the question whether a confined command may reach it through an allowed name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "domain/network_rule.h"

namespace cofferdam::domain {

enum class AddressKind : std::uint8_t {
  kPublic,
  kUnspecified,   // 0.0.0.0/8, ::
  kLoopback,      // 127.0.0.0/8, ::1
  kLinkLocal,     // 169.254.0.0/16, fe80::/10
  kPrivate,       // RFC 1918, and the deprecated site-local fec0::/10
  kUniqueLocal,   // fc00::/7
  kCarrierGrade,  // 100.64.0.0/10
  kMulticast,     // 224.0.0.0/4, ff00::/8
  kBroadcast,     // 255.255.255.255
  kReserved,      // everything IANA keeps from global use: documentation, benchmarking, discard …
  kMetadata,      // where cloud machines are served their credentials
};

std::string_view to_string(AddressKind kind);

// The IPv4 address that an IPv6 address carries (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), because a
// translator or tunnel on the way delivers there.
std::optional<IpAddress> embedded_ipv4(const IpAddress& address);

// An IPv6 address that carries an IPv4 one is as little public as what it carries.
AddressKind classify(const IpAddress& address);

}  // namespace cofferdam::domain
