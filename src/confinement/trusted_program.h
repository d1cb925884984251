// Finding the confining program where only the administrator can have put it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"

namespace cofferdam::confinement {

// `configured` is a name, looked up in the system's own directories and never in a PATH that the run could have
// set, or an absolute path. The file and every directory above it must belong to root and be writable by nobody
// else, and it must not lie in a tree that the run may write. Returns the real path.
Result<std::string> find_bubblewrap(const HostView& host, const std::string& configured,
                                    const std::vector<std::string>& writable_trees);

}  // namespace cofferdam::confinement
