// Files of the home directory that a run works on as copies, and that go home only if nobody else changed them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confinement/plan.h"

namespace cofferdam::control {

class HomeFiles {
 public:
  // Reads every file of the plan; a missing one is an empty copy. Files are read and written with the rights of the
  // run's user: started by root, the home is somebody's who may have laid links in it.
  static Result<HomeFiles> read(const std::vector<confinement::HomeFile>& files, const confinement::Identity& user);

  // In the order of the plan.
  const std::vector<std::string>& contents() const { return contents_; }

  // Brings one file home. Returns a remark for the user when its changes were not taken. `keep_settings` leaves
  // what starts programs (servers of the Model Context Protocol) as the host has it.
  Result<std::string> bring_home(const std::string& inside_path, const UniqueFd& file, bool keep_settings) const;

 private:
  confinement::Identity user_;
  std::vector<confinement::HomeFile> files_;
  std::vector<std::string> contents_;
};

// `changed` with every "mcpServers" member as `original` has it. Both are JSON; nothing when `changed` is not.
std::optional<std::string> with_original_servers(const std::string& original, const std::string& changed);

}  // namespace cofferdam::control
