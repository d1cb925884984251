// The Git side of saving a directory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/layout.h"
#include "git/tracked.h"
#include "system/tree.h"

namespace cofferdam::control {

// What must be known of a directory's repository to save it whole. One thread.
class SavedHistory {
 public:
  // `git`: its error is that of a repository; a directory without one can be saved all the same.
  static Result<SavedHistory> of(const std::string& directory, const Result<std::unique_ptr<git::GitProgram>>& git);

  // Whether Git tracks something below `path`, so that it is no mere dependency.
  Result<bool> tracks(const std::string& path) const;

  // A history that lies elsewhere (a linked worktree, a submodule, objects borrowed from another repository) as a
  // standalone Git directory to be saved in the place of `.git`; empty when `.git` is whole as it is.
  const std::string& standalone() const { return standalone_; }

 private:
  SavedHistory() = default;
  std::optional<system::TemporaryDirectory> scratch_;
  std::optional<git::TrackedFiles> tracked_;
  std::string standalone_;
};

// Whether the repository's own directory holds all of its history.
bool history_is_inside(const git::Layout& layout);

}  // namespace cofferdam::control
