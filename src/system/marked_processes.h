// Processes found by a variable of their environment: what a command left behind has it, whatever session or parent it
// chose since.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cofferdam::system {

// The processes of this user whose environment at their start held `variable` ("NAME=VALUE"); not this one. One that
// emptied its environment before it executed something is not found: this is for orderly commands, not for hostile
// ones.
std::vector<pid_t> marked_processes(const std::string& variable);

// Signals each of them and returns how many there were.
std::size_t signal_marked(const std::string& variable, int number);

// SIGKILL until none is left, for a second at most. False when some are left.
bool kill_marked(const std::string& variable);

}  // namespace cofferdam::system
