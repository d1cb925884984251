// Closing a descriptor whose last close makes the kernel wait.
#pragma once

#include "base/unique_fd.h"

namespace cofferdam::system {

// Leaves the last close to a process that does nothing else and ends when this one does: removing an inotify instance
// waits 10 ms and more for a grace period of the kernel, which is longer than a whole run of a short command. Closes
// right here when no process can be had.
void close_in_background(UniqueFd fd);

}  // namespace cofferdam::system
