#include "control/doctor.h"

namespace cofferdam::control {
std::vector<Finding> examine_host() { return {}; }
}  // namespace cofferdam::control
