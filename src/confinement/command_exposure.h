// Makes the command itself visible inside: the program, what its links lead to, the package it belongs to and
// the interpreter that its first line names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"
#include "confinement/mount_set.h"

namespace cofferdam::confinement {

struct CommandExposureRequest {
  std::string program;              // argv[0] of the command
  std::string working_directory;    // where a relative program starts
  std::string search_path;          // the caller's PATH
  std::vector<std::string> closed;  // directories that are never shown as a whole: the home, the workspace's parents
};

// Adds read-only mounts for what is not visible yet. A program that cannot be found adds nothing: the start
// itself will say so, with the exit code that shells use.
Status expose_command(MountSet& mounts, const HostView& host, const CommandExposureRequest& request);

}  // namespace cofferdam::confinement
