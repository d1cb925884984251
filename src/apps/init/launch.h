// Leaving root behind before anything is confined.
#pragma once

namespace cofferdam::init {

// `cofferdam-init launch UID GID PROGRAM ARGUMENT…`: becomes the user for good, then executes the program.
// Returns only on failure, with an exit code.
int launch_as(int argument_count, char** arguments);

}  // namespace cofferdam::init
