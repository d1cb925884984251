// What `run` would do, without doing it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "domain/policy.h"

namespace cofferdam::control {

enum class ExplainFormat : bool { kText, kJson };

// The plan for running `command` under `policy` on this machine, rendered. Starts nothing, changes nothing.
Result<std::string> explain_local(const domain::Policy& policy, const std::vector<std::string>& command,
                                  ExplainFormat format);

}  // namespace cofferdam::control
