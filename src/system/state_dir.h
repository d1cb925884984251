// Where a program of this project keeps its state.
#pragma once

#include <string>

#include "base/result.h"

namespace cofferdam::system {

// $COFFERDAM_STATE_DIR, else $XDG_STATE_HOME/cofferdam, else ~/.local/state/cofferdam. Not created here.
Result<std::string> state_directory();

}  // namespace cofferdam::system
