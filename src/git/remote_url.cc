#include "git/remote_url.h"

#include <algorithm>
#include <array>

#include "base/ranges.h"
#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::array<std::string_view, 2> kWithoutUser = {"http", "https"};
constexpr std::array<std::string_view, 3> kWithUser = {"ssh", "git", "git+ssh"};

bool is_blank_or_control(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
}

// A host that begins with a dash would be an option of the program that is given it.
bool is_host(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.front() != ':';
}

std::optional<std::string> portable_scheme_url(std::string_view url, std::size_t colon) {
  const std::string scheme = ascii_lower(url.substr(0, colon));
  const bool keeps_user = contains(kWithUser, scheme);
  if (!keeps_user && !contains(kWithoutUser, scheme)) return std::nullopt;
  std::string_view rest = url.substr(colon + 3);
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  std::string user;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    user = authority.substr(0, std::min(authority.find(':'), at));
    authority.remove_prefix(at + 1);
  }
  if (!is_host(authority) || user.starts_with('-')) return std::nullopt;
  const bool with_user = keeps_user && !user.empty();
  return scheme + "://" + (with_user ? user + "@" : "") + std::string(authority) + std::string(rest.substr(slash));
}

// user@host:path, as scp writes it.
bool is_scp_address(std::string_view url) {
  const std::size_t at = url.find('@');
  if (at == std::string_view::npos || at == 0 || url.front() == '-') return false;
  if (url.substr(0, at).find_first_of(":/") != std::string_view::npos) return false;
  const std::string_view rest = url.substr(at + 1);
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon + 1 == rest.size()) return false;
  const std::string_view host = rest.substr(0, colon);
  return is_host(host) && host.find_first_of("/@") == std::string_view::npos && !rest.substr(colon).contains('@') &&
         !rest.substr(colon).starts_with("::");
}

}  // namespace

std::optional<std::string> portable_remote_url(std::string_view url) {
  if (url.empty() || std::ranges::any_of(url, is_blank_or_control)) return std::nullopt;
  if (const std::size_t colon = url.find("://"); colon != std::string_view::npos) {
    return portable_scheme_url(url, colon);
  }
  return is_scp_address(url) ? std::optional<std::string>(url) : std::nullopt;
}

}  // namespace cofferdam::git
