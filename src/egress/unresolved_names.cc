#include "egress/unresolved_names.h"

#include <utility>

namespace cofferdam::egress {

void UnresolvedNames::add(std::string host, async::Clock::time_point now) {
  if (forget_at_.size() >= kMaxNames) std::erase_if(forget_at_, [&](const auto& name) { return name.second <= now; });
  if (forget_at_.size() < kMaxNames) forget_at_.insert_or_assign(std::move(host), now + kMemory);
}

bool UnresolvedNames::contains(const std::string& host, async::Clock::time_point now) const {
  const auto found = forget_at_.find(host);
  return found != forget_at_.end() && now < found->second;
}

}  // namespace cofferdam::egress
