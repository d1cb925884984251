#include "domain/origin_url.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};

constexpr std::array kSchemes = {Scheme{"http", 80}, Scheme{"https", 443}, Scheme{"ws", 80}, Scheme{"wss", 443},
                                 Scheme{"ftp", 21}};

bool is_blank_or_control(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
}

// The end of the host in "host:port"; npos when the text has no host there.
std::size_t host_length(std::string_view authority) {
  if (!authority.starts_with('[')) return std::min(authority.find(':'), authority.size());
  const std::size_t bracket = authority.find(']');
  return bracket == std::string_view::npos ? bracket : bracket + 1;
}

bool read_authority(std::string_view authority, OriginUrl& url) {
  const std::size_t length = host_length(authority);
  if (length == 0 || length == std::string_view::npos) return false;
  url.host = authority.substr(0, length);
  std::string_view rest = authority.substr(length);
  if (rest.empty()) return true;
  if (rest.front() != ':') return false;
  rest.remove_prefix(1);
  if (rest.empty()) return true;
  const auto port = parse_decimal(rest);
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) return false;
  url.port = static_cast<std::uint16_t>(*port);
  return true;
}

// Whether what follows the authority says nothing: "/", "?" and "#" alone.
bool is_bare(std::string_view rest) {
  if (rest.starts_with('/') || rest.starts_with('\\')) rest.remove_prefix(1);
  if (rest.starts_with('?')) rest.remove_prefix(1);
  if (rest.starts_with('#')) rest.remove_prefix(1);
  return rest.empty();
}

}  // namespace

std::uint16_t OriginUrl::default_port() const {
  const auto* known = std::ranges::find(kSchemes, std::string_view(scheme), &Scheme::name);
  return known == kSchemes.end() ? 0 : known->port;
}

std::optional<OriginUrl> parse_origin_url(std::string_view text) {
  text = trimmed(text);
  if (std::ranges::any_of(text, is_blank_or_control)) return std::nullopt;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  OriginUrl url;
  url.scheme = ascii_lower(text.substr(0, colon));
  if (url.default_port() == 0) return std::nullopt;
  text.remove_prefix(colon + 1);
  // These schemes take any number of slashes, of either kind, before the host.
  text.remove_prefix(std::min(text.find_first_not_of("/\\"), text.size()));
  const std::size_t end = std::min(text.find_first_of("/\\?#"), text.size());
  const std::string_view authority = text.substr(0, end);
  if (authority.contains('@') || !read_authority(authority, url)) return std::nullopt;
  url.bare = is_bare(text.substr(end));
  return url;
}

}  // namespace cofferdam::domain
