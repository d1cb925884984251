#include <arpa/inet.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "domain/network_rule.h"

namespace cofferdam::domain {
namespace {

// One number of a dotted IPv4 spelling: decimal, 0-octal or 0x-hexadecimal, as URL parsers and inet_aton read it.
std::optional<std::uint64_t> ipv4_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t base = 10;
  if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() >= 2 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    std::uint64_t digit = 16;
    if (c >= '0' && c <= '9') digit = static_cast<std::uint64_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<std::uint64_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<std::uint64_t>(c - 'A') + 10;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;
    if (value > 0xFFFFFFFF) return std::nullopt;
  }
  return value;
}

std::optional<IpAddress> parse_v4(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<std::uint64_t> number = ipv4_number(parts[i]);
    if (!number) return std::nullopt;
    const bool last = i + 1 == parts.size();
    // The last number fills all bytes that the others left.
    const std::uint64_t bound = last ? std::uint64_t{1} << (8 * (4 - i)) : 256;
    if (*number >= bound) return std::nullopt;
    value |= last ? *number : *number << (8 * (3 - i));
  }
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) out.bytes[i] = static_cast<std::uint8_t>(value >> (8 * (3 - i)));
  return out;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  IpAddress out;
  out.is_v6 = true;
  const std::string terminated(text);
  if (terminated.contains('\0') || ::inet_pton(AF_INET6, terminated.c_str(), out.bytes.data()) != 1) {
    return std::nullopt;
  }
  return out;
}

bool is_mapped(const IpAddress& address) {
  return address.is_v6 &&
         std::ranges::all_of(address.bytes.begin(), address.bytes.begin() + 10, [](auto b) { return b == 0; }) &&
         address.bytes[10] == 0xFF && address.bytes[11] == 0xFF;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') return parse_v6(text.substr(1, text.size() - 2));
  if (text.contains(':')) return parse_v6(text);
  if (text.size() > 1 && text.back() == '.') text.remove_suffix(1);
  return parse_v4(text);
}

IpAddress IpAddress::v4(std::uint32_t host_order) {
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) out.bytes[i] = static_cast<std::uint8_t>(host_order >> (8 * (3 - i)));
  return out;
}

IpAddress IpAddress::unmapped() const {
  if (!is_mapped(*this)) return *this;
  IpAddress out;
  std::copy_n(bytes.begin() + 12, 4, out.bytes.begin());
  return out;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size());
  return text.data();
}

bool Cidr::contains(const IpAddress& address) const {
  const IpAddress candidate = network.is_v6 ? address : address.unmapped();
  if (candidate.is_v6 != network.is_v6) return false;
  const auto whole = static_cast<std::size_t>(prefix_bits / 8);
  if (!std::equal(network.bytes.begin(), network.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  candidate.bytes.begin())) {
    return false;
  }
  const int rest = prefix_bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xFF << (8 - rest));
  return ((network.bytes[whole] ^ candidate.bytes[whole]) & mask) == 0;
}

bool Cidr::is_single_address() const {
  return prefix_bits == (network.is_v6 ? 128 : 32);
}

}  // namespace cofferdam::domain
