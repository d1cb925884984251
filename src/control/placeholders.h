// Making and removing what absent protected paths need on the host to be mounted over.
//
// Several runs may protect the same path. Each holds a shared lock on it; whoever removes a placeholder must get
// the lock alone, because the kernel takes a removed directory out of every namespace where it is mounted.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confinement/plan.h"

namespace cofferdam::control {

// Makes the placeholders that do not exist. Owned by whoever owns their parent directory.
Status make_placeholders(const std::vector<confinement::Placeholder>& placeholders);

// Shared locks on what `plan` protects in the workspace and on its placeholders; held while the run lives.
std::vector<UniqueFd> lock_protected(const confinement::ConfinementPlan& plan);

// Removes those that are as they were made: an empty directory, an empty file. Returns the ones that another run
// still uses.
std::vector<confinement::Placeholder> remove_placeholders(const std::vector<confinement::Placeholder>& placeholders);

}  // namespace cofferdam::control
