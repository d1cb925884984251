#include "egress/own_addresses.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>
#include <utility>

namespace cofferdam::egress {

std::span<const domain::IpAddress> OwnAddresses::get() {
  const auto now = async::Clock::now();
  if (!known_.empty() && now - read_at_ < kFresh) return known_;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return known_;
  std::vector<domain::IpAddress> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    domain::IpAddress address;
    if (entry->ifa_addr->sa_family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, 4);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      address.is_v6 = true;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr, 16);
    } else {
      continue;
    }
    found.push_back(address);
  }
  ::freeifaddrs(list);
  known_ = std::move(found);
  read_at_ = now;
  return known_;
}

}  // namespace cofferdam::egress
