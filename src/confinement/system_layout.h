// The part of the sandbox's root that does not depend on what was granted: the system's tools, /etc, devices.
#pragma once

#include "base/result.h"
#include "confinement/host_view.h"
#include "confinement/mount_set.h"

namespace cofferdam::confinement {

struct SystemLayoutRequest {
  domain::FilesystemScope filesystem = domain::FilesystemScope::kWorkspace;
  domain::NetworkScope network = domain::NetworkScope::kDeny;
  std::uint64_t tmpfs_bytes = 0;
  Identity identity;
  std::string home;  // inside
  bool nested_sandboxes = false;
};

// Mirrors the host: a root entry that is a link there is a link here, a directory is bound read-only.
Status add_system_layout(MountSet& mounts, const HostView& host, const SystemLayoutRequest& request);

// The shell of the account inside: the caller's SHELL when it belongs to the system, else /bin/sh. Agents run their
// tools with it, so it must be the one that their user expects.
std::string login_shell(const HostView& host);

}  // namespace cofferdam::confinement
