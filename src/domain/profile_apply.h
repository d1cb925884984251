// Writing what a profile says into a policy.
#pragma once

#include <string>
#include <vector>

#include "domain/policy.h"
#include "domain/policy_resolve.h"
#include "domain/profile.h"

namespace cofferdam::domain {

// Allow rules for the profile's hosts.
Result<std::vector<NetworkRule>> host_rules(const Profile& profile);

// Keys to pass, switches to set, and the certificate files that the caller's CA variables name (as read grants).
void add_environment(const Profile& profile, const Caller& caller, Policy& policy);

// State directories (writable), what is guarded in them (read-only unless policy.agent_settings_writable) and files
// to copy. `policy.home` must be set.
void add_home(const Profile& profile, const Caller& caller, Policy& policy);

// The directory as this caller has it: the variable's value when set and absolute, else below `home`.
std::string directory_of(const Profile::HomeDirectory& directory, const std::string& home, const Caller& caller);

}  // namespace cofferdam::domain
