// Proving that what is mounted is what was planned.
#pragma once

#include "confinement/init_protocol.h"

namespace cofferdam::init {

// Compares every planned mount with what lies at its path now. Does not return when one differs.
void check_mounts(const confinement::init::Specification& spec);

}  // namespace cofferdam::init
