// From the flags of `run` and `explain` to a Policy.
#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "domain/policy_resolve.h"

namespace cofferdam::cli {

// Reads --policy and --adapter-config too. The caller's directory, home and environment are this process's.
Result<domain::ResolvedPolicy> policy_from_flags(const Arguments& arguments);

}  // namespace cofferdam::cli
