// Names to addresses.
#pragma once

#include <string>
#include <vector>

#include "async/blocking_pool.h"
#include "async/loop.h"
#include "domain/network_rule.h"

namespace cofferdam::egress {

struct Resolution {
  std::vector<domain::IpAddress> addresses;  // without repetition, in the order of preference
  std::string failure;                       // when there are none: "nxdomain", "dns_timeout", "dns_failure"
};

// An interface so that tests can be the name service. Called on the loop.
class Resolver {
 public:
  virtual ~Resolver() = default;
  virtual async::Task<Resolution> resolve(std::string host) = 0;
};

// The system's name service, as every other program on this machine sees it.
class SystemResolver : public Resolver {
 public:
  static constexpr std::size_t kMaxAddresses = 32;
  static constexpr std::size_t kMaxQueued = 1024;

  explicit SystemResolver(std::size_t threads) : pool_(threads, kMaxQueued) {}
  async::Task<Resolution> resolve(std::string host) override;

 private:
  async::BlockingPool pool_;
};

}  // namespace cofferdam::egress
