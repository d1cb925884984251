// The policy file: YAML with the flags' keys (docs/policy.md is its reference).
#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "domain/policy_settings.h"

namespace cofferdam::domain {

struct PolicyFileLocation {
  std::string file;       // as it is called in messages
  std::string directory;  // absolute; where relative paths start
  std::string home;       // what `~` means; empty: `~` is an error
};

// All problems at once; each names file, line and key.
std::expected<PolicySettings, std::vector<Error>> parse_policy_file(std::string_view text,
                                                                    const PolicyFileLocation& location);

}  // namespace cofferdam::domain
