// The addresses of this machine's interfaces: reaching them by a public name would be reaching the host itself.
#pragma once

#include <span>
#include <vector>

#include "async/loop.h"
#include "domain/network_rule.h"

namespace cofferdam::egress {

// Read anew when the last reading is older than kFresh. Used on the loop only. When they cannot be read the last
// known ones hold.
class OwnAddresses {
 public:
  static constexpr std::chrono::seconds kFresh{2};
  std::span<const domain::IpAddress> get();

 private:
  std::vector<domain::IpAddress> known_;
  async::Clock::time_point read_at_{};
};

}  // namespace cofferdam::egress
