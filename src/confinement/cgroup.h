// Control groups: the limits that hold for a whole sandbox.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"

namespace cofferdam::confinement {

// What the caller may use: version 1 where it may write (root), a version 2 directory that was delegated to it,
// or nothing. Reads files only.
CgroupFacts read_cgroup_facts();

// One group per hierarchy for one run. Owns the directories: they are removed on destruction.
class Cgroup {
 public:
  // Makes `cofferdam-<run_id>` with the limits of `plan` whose means are a control group.
  static Result<Cgroup> create(const CgroupFacts& facts, const std::string& run_id,
                               const std::vector<PlannedLimit>& limits);

  // The directories that create() would make; written to the run's record before they exist.
  static std::vector<std::string> directories_for(const CgroupFacts& facts, const std::string& run_id,
                                                  const std::vector<PlannedLimit>& limits);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) noexcept = default;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();

  // Puts a process, and with it every child it will have, into the group.
  Status add(pid_t pid) const;
  // True when the kernel killed something in the group because of its memory limit.
  bool ran_out_of_memory() const;

 private:
  Cgroup() = default;
  std::vector<std::string> directories_;
  std::string memory_events_;  // file that counts out-of-memory kills; empty without a memory limit
};

// Ends whatever is left in the group and removes it. Missing is fine.
void remove_cgroup(const std::string& directory);

}  // namespace cofferdam::confinement
