// Host and port of a URL as browsers' URL parsers see them, for the places where Paperclip users write URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cofferdam::domain {

struct OriginUrl {
  std::string scheme;                 // lower case: http, https, ws, wss or ftp
  std::string host;                   // as written; an IPv6 literal with its brackets
  std::optional<std::uint16_t> port;  // as written, never 0
  bool bare = true;                   // no user, path beyond "/", query or fragment

  std::uint16_t default_port() const;
};

// `text` without white space around it. Nothing for other schemes, an empty host, a bad port, a user name, white
// space or control characters.
std::optional<OriginUrl> parse_origin_url(std::string_view text);

}  // namespace cofferdam::domain
