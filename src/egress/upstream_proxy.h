// An operator's own HTTP proxy between us and the world.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cofferdam::egress {

struct UpstreamProxy {
  std::string host;  // canonical
  std::uint16_t port = 0;
  std::string authorization;  // value of Proxy-Authorization; a secret; empty: none
};

// http://[user:password@]host[:port][/]; port 80 when left out. Errors never repeat the URL: it may hold a password.
Result<UpstreamProxy> parse_upstream_proxy(std::string_view url);

// The URL that holds for a run: COFFERDAM_UPSTREAM_PROXY, else HTTPS_PROXY, else https_proxy; empty: none. An empty
// COFFERDAM_UPSTREAM_PROXY means none, whatever the others say.
using VariableLookup = std::function<std::optional<std::string>(const char* name)>;
std::string pick_upstream_proxy(const VariableLookup& variable);

}  // namespace cofferdam::egress
