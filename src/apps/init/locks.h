// The locks that hold the command beside its mounts: Landlock, seccomp, resource limits.
#pragma once

#include "confinement/init_protocol.h"

namespace cofferdam::init {

// Opens the paths and makes the ruleset. Returns its descriptor, or -1 when the specification wants none.
// Does not return when the kernel refuses: half a lock is none.
int prepare_landlock(const confinement::init::Specification& spec);

// Each returns 0 or an errno; all are called in the child that becomes the command.
int set_limits(const confinement::init::Specification& spec);
int enter_landlock(int ruleset);
int enter_seccomp(bool nested_sandboxes);

}  // namespace cofferdam::init
