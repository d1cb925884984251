#include "egress/resolver.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace cofferdam::egress {
namespace {

std::string failure_text(int code) {
  if (code == EAI_NONAME || code == EAI_NODATA) return "nxdomain";
  if (code == EAI_AGAIN) return "dns_timeout";
  return "dns_failure";
}

Resolution resolve_blocking(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  Resolution out;
  if (code != 0) {
    out.failure = failure_text(code);
    return out;
  }
  for (const addrinfo* entry = list; entry != nullptr && out.addresses.size() < SystemResolver::kMaxAddresses;
       entry = entry->ai_next) {
    domain::IpAddress address;
    if (entry->ai_family == AF_INET) {
      const auto* found = reinterpret_cast<const sockaddr_in*>(entry->ai_addr);
      std::memcpy(address.bytes.data(), &found->sin_addr, 4);
    } else if (entry->ai_family == AF_INET6) {
      const auto* found = reinterpret_cast<const sockaddr_in6*>(entry->ai_addr);
      address.is_v6 = true;
      std::memcpy(address.bytes.data(), &found->sin6_addr, 16);
    } else {
      continue;
    }
    if (std::ranges::find(out.addresses, address) == out.addresses.end()) out.addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  if (out.addresses.empty()) out.failure = "nxdomain";
  return out;
}

}  // namespace

async::Task<Resolution> SystemResolver::resolve(std::string host) {
  std::function<Resolution()> job = [host = std::move(host)] { return resolve_blocking(host); };
  Result<Resolution> answer = co_await pool_.run(std::move(job));
  if (answer) co_return std::move(*answer);
  Resolution failed;
  failed.failure = "dns_failure";
  co_return failed;
}

}  // namespace cofferdam::egress
