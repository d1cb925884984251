// Private copies of the trees that a run may change, and the way of its results home.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/substitution.h"
#include "control/outcome_file.h"
#include "domain/policy.h"
#include "git/git_program.h"
#include "git/history_base.h"
#include "system/tree.h"
#include "workspace/merge_plan.h"

namespace cofferdam::control {

// One tree and its copy.
//
//   <state>/copies/<run>/<n>/tree      the copy
//   <state>/copies/<run>/<n>/original  the path of the original
//   <state>/copies/<run>/<n>/base.json what the copy held when it was made: what was sent
//   <state>/copies/<run>/<n>/history   what its Git history was (an empty directory without Git)
class TreeCopy {
 public:
  // Copies `original` (absolute, without links) into `place`, an empty private directory. A history that lies elsewhere
  // (a linked worktree's, borrowed objects) becomes a standalone one in the copy.
  // An interrupted merge into the original is finished or rolled back before.
  static Result<TreeCopy> make(const std::string& original, const std::string& place, const std::string& state,
                               git::GitProgram& git);

  const std::string& original() const { return original_; }
  std::string path() const { return place_ + "/tree"; }

  // Merges what changed in the copy into the original, under the original's lock; Git history first, so that files and
  // index follow it. Fills in `report`. An interrupted earlier merge is finished or rolled back before.
  Status bring_home(git::GitProgram& git, const std::string& run, workspace::Prefer prefer, const std::string& state,
                    WorkspaceReport& report) const;

 private:
  TreeCopy() = default;
  Status copy_history(const git::Layout& layout, git::GitProgram& git);
  Status merge_files(const std::string& run, workspace::Prefer prefer, const std::string& state,
                     WorkspaceReport& report) const;

  std::string original_;
  std::string place_;
  std::vector<workspace::Entry> base_;
  std::optional<git::HistoryBase> history_;
};

// Finishes or rolls back an interrupted merge into `original` (without links), if there was one. Takes its lock.
Status finish_interrupted_merge(const std::string& original);

}  // namespace cofferdam::control
