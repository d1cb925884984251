// From the flags of `run` and `explain` to a Policy.
#pragma once

#include <expected>
#include <vector>

#include "base/error.h"
#include "cli/verb.h"
#include "domain/policy_resolve.h"

namespace cofferdam::cli {

// Reads --policy and --adapter-config too. The caller's directory, home and environment are this process's.
// All problems of a policy file come at once.
std::expected<domain::ResolvedPolicy, std::vector<Error>> policy_from_flags(const Arguments& arguments);

}  // namespace cofferdam::cli
