#include "egress/upstream_proxy.h"

#include "base/strings.h"
#include "domain/network_rule.h"

namespace cofferdam::egress {
namespace {

Error bad_url(std::string_view why) {
  return Error(ErrorCode::kInvalidArgument, "the URL of the upstream proxy " + std::string(why))
      .with_hint(
          "Set COFFERDAM_UPSTREAM_PROXY to http://[USER:PASSWORD@]HOST:PORT, or to nothing to connect directly.");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) out += j <= count ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace

Result<UpstreamProxy> parse_upstream_proxy(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  url = trimmed(url);
  if (ascii_lower(url.substr(0, kScheme.size())) == kScheme) {
    url.remove_prefix(kScheme.size());
  } else if (url.contains("://")) {
    return bad_url("has a scheme other than http");
  }
  if (url.ends_with('/')) url.remove_suffix(1);
  UpstreamProxy out;
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::optional<std::string> user = percent_decoded(url.substr(0, at));
    if (!user) return bad_url("has a broken % escape in its user name or password");
    out.authorization = "Basic " + base64(user->contains(':') ? *user : *user + ":");
    url.remove_prefix(at + 1);
  }
  if (url.find_first_of("/?#") != std::string_view::npos) return bad_url("has a path, a query or a fragment");
  std::string_view host = url;
  std::string_view port = "80";
  const std::size_t bracket = url.rfind(']');
  const std::size_t colon = url.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    host = url.substr(0, colon);
    port = url.substr(colon + 1);
  }
  const Result<std::string> canonical = domain::canonical_host(host);
  const std::optional<std::uint64_t> number = parse_decimal(port);
  if (!canonical) return bad_url("names no host");
  if (!number || *number == 0 || *number > 65535) return bad_url("has a port that is not a number from 1 to 65535");
  out.host = *canonical;
  out.port = static_cast<std::uint16_t>(*number);
  return out;
}

std::string pick_upstream_proxy(const VariableLookup& variable) {
  for (const char* name : {"COFFERDAM_UPSTREAM_PROXY", "HTTPS_PROXY", "https_proxy"}) {
    if (const std::optional<std::string> value = variable(name)) {
      if (!value->empty() || std::string_view(name) == "COFFERDAM_UPSTREAM_PROXY") return *value;
    }
  }
  return {};
}

}  // namespace cofferdam::egress
