// Reading back what runs were allowed and refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/moment.h"

namespace cofferdam::control {

struct AuditQuery {
  std::string run;  // empty: every recorded run, oldest first
  bool only_denied = false;
  std::optional<domain::Moment> since;  // only decisions that are not older
  std::optional<std::size_t> last;      // only that many, the last ones
};

// Decisions as JSON lines exactly as they were recorded (docs/guide-local.md lists the members).
Result<std::vector<std::string>> read_decisions(const AuditQuery& query);

}  // namespace cofferdam::control
