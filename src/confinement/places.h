// Which places of the file system may serve as what. Pure rules over normalised paths.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/policy.h"

namespace cofferdam::confinement {

struct HomePlace {
  std::string path;       // as configured
  std::string real_path;  // without links
  bool may_be_workspace = false;
};

// Refuses the whole file system, directories of the system, and whatever holds the home directory.
Status check_workspace_place(const std::string& workspace, const HomePlace& home);

// Refuses an alias that would cover the system, the home or the workspace.
Status check_alias_place(const std::string& alias, const std::string& workspace, const std::string& home);

// With the host's file system open, the places for temporary files are the run's own nevertheless.
bool hidden_by_host_scope(domain::FilesystemScope scope, std::string_view path);

}  // namespace cofferdam::confinement
