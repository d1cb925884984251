// How a directory is named as a workspace.
#pragma once

#include <string>

#include "base/result.h"

namespace cofferdam::control {

// "path:" and its real path: snapshots of one workspace follow each other under this name.
Result<std::string> workspace_name(const std::string& directory);

}  // namespace cofferdam::control
