// Keeps the command from leaving behind what would run unconfined later: Git hooks and configuration, settings
// of agents and editors.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/git_layout.h"
#include "confinement/host_view.h"
#include "confinement/mount_set.h"

namespace cofferdam::confinement {

struct ProtectedPath {
  std::string path;  // absolute
  bool is_directory = false;
  std::string placeholder_content;  // what an absent file reads as inside; of a directory, its .gitignore
  std::string switch_that_allows;   // for the error message
};

// Settings of agents and editors that lie in a workspace, as paths below it.
std::vector<ProtectedPath> agent_settings_of(const std::string& workspace);

struct ProtectionPlan {
  std::vector<Mount> mounts;
  std::vector<Placeholder> placeholders;
};

// Read-only mounts over every path, with the directories above them (below `workspace`) pinned by a bind onto
// themselves, since a directory that can be renamed takes its protection along. Absent paths get placeholders. Where a
// file or a closed directory stands in the way of a path, that is protected instead.
// Fails when a component of a path is a symbolic link (a link can be replaced whatever is mounted behind it), a pipe, a
// socket or a device (a read-only mount does not keep anybody from using them).
Result<ProtectionPlan> plan_protection(const HostView& host, const std::string& workspace,
                                       const std::vector<ProtectedPath>& paths);

// The same, added to what is planned already.
Status add_protection(MountSet& mounts, std::vector<Placeholder>& placeholders, const HostView& host,
                      const std::string& workspace, const std::vector<ProtectedPath>& paths);

}  // namespace cofferdam::confinement
