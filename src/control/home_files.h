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

  // Brings one file home, its guarded members as the host has them. Returns a remark for the user when its changes
  // were not taken.
  Result<std::string> bring_home(const std::string& inside_path, const UniqueFd& file) const;

 private:
  confinement::Identity user_;
  std::vector<confinement::HomeFile> files_;
  std::vector<std::string> contents_;
};

// Renames those of `paths` that exist now, so that no program obeys them. Returns a remark for each.
std::vector<std::string> set_aside(const std::vector<std::string>& paths, const confinement::Identity& user);

// `changed` with each of `members` ("env", "projects.*.mcpServers") as `original` has it: what the original lacks is
// taken out. Both are JSON objects; nothing when `changed` is not.
std::optional<std::string> with_original_members(const std::string& original, const std::string& changed,
                                                 const std::vector<std::string>& members);

}  // namespace cofferdam::control
