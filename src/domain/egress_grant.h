// The network destinations that one task may reach beyond its environment's list.
#pragma once

#include <string>
#include <vector>

namespace cofferdam::domain {

struct EgressGrant {
  std::vector<std::string> hosts;  // names, lower case
  std::vector<std::string> cidrs;  // as written

  bool empty() const { return hosts.empty() && cidrs.empty(); }
  bool operator==(const EgressGrant&) const = default;
};

}  // namespace cofferdam::domain
