// `--adapter-config`: Paperclip's adapter configuration together with the flags that may stand beside it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "domain/policy_resolve.h"

namespace cofferdam::cli {

// `settings` are the flags over the policy file. The scopes come from the configuration alone: a flag that would
// loosen or contradict it is an error.
Result<domain::ResolvedPolicy> policy_of_adapter(std::string_view json, const domain::PolicySettings& settings,
                                                 const domain::Caller& caller);

}  // namespace cofferdam::cli
