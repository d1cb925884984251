#include "control/audit.h"

namespace cofferdam::control {
Result<std::vector<std::string>> read_decisions(const AuditQuery&) { return std::vector<std::string>(); }
}  // namespace cofferdam::control
