#include "domain/address_policy.h"

#include <algorithm>
#include <array>

namespace cofferdam::domain {
namespace {

struct Range4 {
  std::uint32_t network;
  int bits;
  AddressKind kind;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// First match wins. IANA special-purpose registry (RFC 6890 and updates) and the vendors' metadata services:
// AWS/GCP/Azure 169.254.169.254, Alibaba 100.100.100.200, Azure 168.63.129.16, Oracle 192.0.0.192.
constexpr std::array kRanges4 = {
    Range4{v4(169, 254, 169, 254), 32, AddressKind::kMetadata},
    Range4{v4(169, 254, 170, 2), 32, AddressKind::kMetadata},
    Range4{v4(100, 100, 100, 200), 32, AddressKind::kMetadata},
    Range4{v4(168, 63, 129, 16), 32, AddressKind::kMetadata},
    Range4{v4(192, 0, 0, 192), 32, AddressKind::kMetadata},
    Range4{v4(255, 255, 255, 255), 32, AddressKind::kBroadcast},
    Range4{v4(0, 0, 0, 0), 8, AddressKind::kUnspecified},
    Range4{v4(127, 0, 0, 0), 8, AddressKind::kLoopback},
    Range4{v4(169, 254, 0, 0), 16, AddressKind::kLinkLocal},
    Range4{v4(10, 0, 0, 0), 8, AddressKind::kPrivate},
    Range4{v4(172, 16, 0, 0), 12, AddressKind::kPrivate},
    Range4{v4(192, 168, 0, 0), 16, AddressKind::kPrivate},
    Range4{v4(100, 64, 0, 0), 10, AddressKind::kCarrierGrade},
    Range4{v4(224, 0, 0, 0), 4, AddressKind::kMulticast},
    Range4{v4(192, 0, 0, 0), 24, AddressKind::kReserved},
    Range4{v4(192, 0, 2, 0), 24, AddressKind::kReserved},
    Range4{v4(192, 88, 99, 0), 24, AddressKind::kReserved},
    Range4{v4(198, 18, 0, 0), 15, AddressKind::kReserved},
    Range4{v4(198, 51, 100, 0), 24, AddressKind::kReserved},
    Range4{v4(203, 0, 113, 0), 24, AddressKind::kReserved},
    Range4{v4(240, 0, 0, 0), 4, AddressKind::kReserved},
};

AddressKind classify_v4(const IpAddress& address) {
  const std::uint32_t value = v4(address.bytes[0], address.bytes[1], address.bytes[2], address.bytes[3]);
  for (const Range4& range : kRanges4) {
    const std::uint32_t mask = ~std::uint32_t{0} << (32 - range.bits);
    if ((value & mask) == range.network) return range.kind;
  }
  return AddressKind::kPublic;
}

struct Range6 {
  std::array<std::uint8_t, 8> head;  // the first bytes of the network; the rest is zero
  int bits;
  AddressKind kind;
};

constexpr std::array kRanges6 = {
    Range6{{0xfd, 0x00, 0x0e, 0xc2}, 32, AddressKind::kMetadata},  // AWS instance metadata and time, fd00:ec2::/32
    Range6{{0xfd, 0x20, 0x00, 0xce}, 32, AddressKind::kMetadata},  // Google, fd20:ce::254
    Range6{{0xfe, 0x80}, 10, AddressKind::kLinkLocal},
    Range6{{0xfe, 0xc0}, 10, AddressKind::kPrivate},
    Range6{{0xfc}, 7, AddressKind::kUniqueLocal},
    Range6{{0xff}, 8, AddressKind::kMulticast},
    Range6{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, AddressKind::kPrivate},   // NAT64 of local meaning, RFC 8215
    Range6{{0x01, 0x00}, 64, AddressKind::kReserved},                          // discard
    Range6{{0x20, 0x01, 0x0d, 0xb8}, 32, AddressKind::kReserved},              // documentation
    Range6{{0x3f, 0xff}, 20, AddressKind::kReserved},                          // documentation
    Range6{{0x20, 0x01, 0x00, 0x02, 0x00, 0x00}, 48, AddressKind::kReserved},  // benchmarking
    Range6{{0x20, 0x01, 0x00, 0x10}, 28, AddressKind::kReserved},              // ORCHID
    Range6{{0x5f, 0x00}, 16, AddressKind::kReserved},                          // segment routing identifiers
};

bool is_inside(const IpAddress& address, const Range6& range) {
  Cidr cidr{.network = {.bytes = {}, .is_v6 = true}, .prefix_bits = range.bits};
  std::ranges::copy(range.head, cidr.network.bytes.begin());
  return cidr.contains(address);
}

bool starts_with_zeros(const IpAddress& address, std::ptrdiff_t count) {
  return std::all_of(address.bytes.begin(), address.bytes.begin() + count, [](std::uint8_t byte) { return byte == 0; });
}

IpAddress v4_at(const IpAddress& address, std::size_t offset, std::uint8_t flip = 0) {
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) out.bytes[i] = address.bytes[offset + i] ^ flip;
  return out;
}

constexpr Range6 kNat64{{0x00, 0x64, 0xff, 0x9b}, 96, AddressKind::kPublic};
constexpr Range6 kSixToFour{{0x20, 0x02}, 16, AddressKind::kPublic};
constexpr Range6 kTeredo{{0x20, 0x01, 0x00, 0x00}, 32, AddressKind::kPublic};

bool is_isatap(const IpAddress& address) {
  return (address.bytes[8] & 0xFD) == 0 && address.bytes[9] == 0 && address.bytes[10] == 0x5E &&
         address.bytes[11] == 0xFE;
}

AddressKind classify_v6(const IpAddress& address) {
  if (starts_with_zeros(address, 16)) return AddressKind::kUnspecified;
  if (starts_with_zeros(address, 15) && address.bytes[15] == 1) return AddressKind::kLoopback;
  for (const Range6& range : kRanges6) {
    if (is_inside(address, range)) return range.kind;
  }
  if (is_inside(address, kTeredo)) {
    // Both the relay's server and the client are named in the address.
    const AddressKind server = classify_v4(v4_at(address, 4));
    if (server != AddressKind::kPublic) return server;
  }
  if (const std::optional<IpAddress> inner = embedded_ipv4(address)) {
    const AddressKind kind = classify_v4(*inner);
    if (kind != AddressKind::kPublic) return kind;
    // The deprecated IPv4-compatible form has no use left; what reaches it depends on the machine.
    if (starts_with_zeros(address, 12)) return AddressKind::kReserved;
    return kind;
  }
  // Only 2000::/3 is global unicast today.
  return (address.bytes[0] & 0xE0) == 0x20 ? AddressKind::kPublic : AddressKind::kReserved;
}

}  // namespace

std::string_view to_string(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic:
      return "public";
    case AddressKind::kUnspecified:
      return "unspecified";
    case AddressKind::kLoopback:
      return "loopback";
    case AddressKind::kLinkLocal:
      return "link-local";
    case AddressKind::kPrivate:
      return "private";
    case AddressKind::kUniqueLocal:
      return "unique-local";
    case AddressKind::kCarrierGrade:
      return "carrier-grade";
    case AddressKind::kMulticast:
      return "multicast";
    case AddressKind::kBroadcast:
      return "broadcast";
    case AddressKind::kReserved:
      return "reserved";
    case AddressKind::kMetadata:
      return "metadata";
  }
  return "reserved";
}

std::optional<IpAddress> embedded_ipv4(const IpAddress& address) {
  if (!address.is_v6) return std::nullopt;
  const IpAddress unmapped = address.unmapped();
  if (!unmapped.is_v6) return unmapped;
  if (starts_with_zeros(address, 12) && !starts_with_zeros(address, 15)) return v4_at(address, 12);
  if (is_inside(address, kNat64)) return v4_at(address, 12);
  if (is_inside(address, kSixToFour)) return v4_at(address, 2);
  if (is_inside(address, kTeredo)) return v4_at(address, 12, 0xFF);
  if (is_isatap(address)) return v4_at(address, 12);
  return std::nullopt;
}

AddressKind classify(const IpAddress& address) {
  const IpAddress plain = address.unmapped();
  return plain.is_v6 ? classify_v6(plain) : classify_v4(plain);
}

}  // namespace cofferdam::domain
