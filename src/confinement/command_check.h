// What will go wrong with the command, as far as a plan shows it.
#pragma once

#include <string>
#include <vector>

#include "confinement/host_view.h"
#include "confinement/mount_set.h"

namespace cofferdam::confinement {

struct CommandCheckRequest {
  std::string program;            // argv[0] of the command
  std::string working_directory;  // where a relative program starts
  std::string search_path;        // PATH inside
};

struct CommandCheck {
  std::string warning;  // why it will not start; empty when it will
  std::string note;     // why it may fail for want of what it starts itself; empty when nothing is known
};

// Looks only at the file that is executed: a script's interpreter may still be missing.
CommandCheck check_command(const MountSet& mounts, const HostView& host, const CommandCheckRequest& request);

}  // namespace cofferdam::confinement
