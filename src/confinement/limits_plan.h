// Decides what enforces each limit on this machine.
#pragma once

#include <vector>

#include "base/error.h"
#include "confinement/host_view.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

inline constexpr std::uint64_t kDefaultPids = 4096;
inline constexpr std::uint64_t kDefaultTmpfsBytes = std::uint64_t{2} << 30;

struct LimitsPlan {
  std::vector<PlannedLimit> limits;
  std::vector<Error> obstacles;  // one for each limit that was asked for and that nothing here can enforce
};

LimitsPlan plan_limits(const domain::Limits& limits, const CgroupFacts& cgroups, uid_t kernel_uid);

}  // namespace cofferdam::confinement
