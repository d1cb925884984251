// What a run protects on the host, held open while the run lives.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confinement/plan.h"

namespace cofferdam::control {

// Two things hang on the open files. Shared locks keep other runs from removing a placeholder that this one uses. And
// since the inode of an open file is not used again, a place that names another file later was replaced: the kernel
// then takes the mount away, and with it the protection.
//
// Owned by the run; must be gone before the run removes its own placeholders.
class ProtectedPlaces {
 public:
  // After the placeholders are made. Notes in the plan which files they are, so that cofferdam-init can tell when one
  // was swapped before it was mounted.
  static Result<ProtectedPlaces> hold(confinement::ConfinementPlan& plan);

  // The places that name another file, or none, by now: outermost ones only, in order.
  std::vector<std::string> replaced() const;

 private:
  Status hold_placeholder(const std::string& path, confinement::ConfinementPlan& plan);
  void hold_mount(const confinement::Mount& mount, const std::string& workspace);
  void watch(const confinement::Mount& mount);

  std::map<std::string, UniqueFd> files_;  // by path
  std::set<std::string> watched_;
};

}  // namespace cofferdam::control
