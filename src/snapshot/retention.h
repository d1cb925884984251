// Which snapshots a policy keeps. A pure rule over times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cofferdam::snapshot {

// How many to keep of each kind; 0: none of that kind. A snapshot kept by one rule counts for the others too.
struct RetentionPolicy {
  std::size_t last = 0;
  std::size_t hourly = 0;
  std::size_t daily = 0;
  std::size_t weekly = 0;  // ISO weeks, beginning on Monday
  std::size_t monthly = 0;
  std::size_t yearly = 0;
  bool keeps_nothing() const { return last + hourly + daily + weekly + monthly + yearly == 0; }
};

// For each time (milliseconds since the epoch, newest first): whether it is kept. Periods are those of UTC; the newest
// snapshot of a period stands for it.
std::vector<bool> kept_by(const RetentionPolicy& policy, const std::vector<std::int64_t>& newest_first_ms);

}  // namespace cofferdam::snapshot
