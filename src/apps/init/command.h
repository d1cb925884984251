// Starting the command and following it to its end.
#pragma once

#include <sys/types.h>

#include "confinement/init_protocol.h"

namespace cofferdam::init {

// The private terminal of the command.
struct Terminal {
  int slave = -1;  // -1: none
};

// Makes the terminal in this sandbox's own devpts and sends its master to the supervisor.
Terminal open_terminal(const confinement::init::Specification& spec);

// Starts the command in a process group of its own. Does not return when it cannot be executed: the reason has
// been reported then.
pid_t start_command(const confinement::init::Specification& spec, Terminal terminal, int landlock_ruleset);

// Serves the supervisor and reaps until the command has ended and everything it left has been ended, too. Returns
// when the sandbox may go.
void follow_command(const confinement::init::Specification& spec, pid_t command, Terminal terminal);

}  // namespace cofferdam::init
