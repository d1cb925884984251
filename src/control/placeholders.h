// Making and removing what absent protected paths need on the host to be mounted over.
//
// Several runs may protect the same path. Each holds a shared lock on it (protected_places.h); whoever removes a
// placeholder must get the lock alone, because the kernel takes a removed directory out of every namespace where it is
// mounted.
#pragma once

#include <vector>

#include "base/result.h"
#include "confinement/plan.h"

namespace cofferdam::control {

// Makes the placeholders that do not exist. Owned by whoever owns their parent directory.
Status make_placeholders(const std::vector<confinement::Placeholder>& placeholders);

// Removes those that are as they were made. Returns the ones that another run still uses.
std::vector<confinement::Placeholder> remove_placeholders(const std::vector<confinement::Placeholder>& placeholders);

// The paths of those that exist and hold nothing of anybody else's (a directory may have been filled).
std::vector<std::string> untouched_placeholders(const std::vector<confinement::Placeholder>& placeholders);

}  // namespace cofferdam::control
