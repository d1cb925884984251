// Handing this process over to the program with everything in it.
#pragma once

#include "base/error.h"

namespace cofferdam::control {

// Executes cofferdam-engine with the same arguments and environment. Returns only when that failed.
Error become_engine(char** arguments);

}  // namespace cofferdam::control
