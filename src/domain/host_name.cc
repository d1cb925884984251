#include <idn2.h>

#include <algorithm>

#include "base/scope_exit.h"
#include "base/strings.h"
#include "domain/network_rule.h"

namespace cofferdam::domain {
namespace {

constexpr std::size_t kMaxHostBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;
// Longer than any spelling of a valid name before IDN mapping; bounds the work of the mapping.
constexpr std::size_t kMaxInputBytes = 1024;

Error not_a_host(std::string_view host, std::string_view why) {
  return {ErrorCode::kInvalidArgument, "\"" + printable(host) + "\" is not a host: " + std::string(why)};
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Result<std::string> mapped_to_ascii(std::string_view host) {
  const std::string terminated(host);
  if (terminated.contains('\0')) return not_a_host(host, "it holds a NUL byte");
  char* mapped = nullptr;
  const int outcome = ::idn2_to_ascii_8z(terminated.c_str(), &mapped, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
  const ScopeExit release([&] { ::idn2_free(mapped); });
  if (outcome != IDN2_OK) return not_a_host(host, ::idn2_strerror(outcome));
  return std::string(mapped);
}

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kMaxLabelBytes || label.front() == '-' || label.back() == '-') return false;
  return std::ranges::all_of(
      label, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

// What a URL parser takes for an attempt at an IPv4 address: such a text is an address or nothing.
bool ends_in_number(std::string_view host) {
  const std::string_view last = split(host, '.').back();
  if (last.starts_with("0x")) {
    return std::ranges::all_of(last.substr(2), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  }
  return std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::string> canonical_host(std::string_view host) {
  if (host.empty()) return not_a_host(host, "it is empty");
  if (host.size() > kMaxInputBytes) return not_a_host(host.substr(0, 64), "it is too long");
  if (host.contains(':') || host.front() == '[') {
    const std::optional<IpAddress> address = IpAddress::parse(host);
    if (!address) return not_a_host(host, "it is no valid IPv6 address");
    return address->unmapped().to_string();
  }
  std::string name;
  if (is_ascii(host)) {
    name = ascii_lower(host);
  } else {
    ASSIGN_OR_RETURN(name, mapped_to_ascii(host));
  }
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return not_a_host(host, "it is empty");
  if (name.size() > kMaxHostBytes) return not_a_host(host, "it is longer than 253 bytes");
  if (!std::ranges::all_of(split(name, '.'), is_label))
    return not_a_host(host, "a label is empty, too long or holds a character that no host name has");
  if (!ends_in_number(name)) return name;
  const std::optional<IpAddress> address = IpAddress::parse(name);
  if (!address) return not_a_host(host, "it is no valid IPv4 address");
  return address->to_string();
}

}  // namespace cofferdam::domain
