// Reading back what runs were allowed and refused.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cofferdam::control {

struct AuditQuery {
  std::string run;  // empty: every recorded run, oldest first
  bool only_denied = false;
};

// Decisions as JSON lines exactly as they were recorded (docs/guide-local.md lists the members).
Result<std::vector<std::string>> read_decisions(const AuditQuery& query);

}  // namespace cofferdam::control
