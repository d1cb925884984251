// From the words after the verb to Arguments. The only user of CLI11.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"

namespace cofferdam::cli {

// `words` are what follows the verb. Errors are usage errors with a hint.
Result<Arguments> parse_arguments(const Verb& verb, const std::vector<std::string>& words);

}  // namespace cofferdam::cli
