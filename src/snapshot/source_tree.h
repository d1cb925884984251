// The tree that is saved: a directory, or one whose `.git` lies elsewhere.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "system/tree.h"
#include "workspace/walk.h"

namespace cofferdam::snapshot {

// One thread reads it. Paths are those of the saved tree.
class SourceTree {
 public:
  // `git_directory`: stands for `.git`; empty: `.git` is what the directory has.
  static Result<SourceTree> open(const std::string& directory, const std::string& git_directory);

  Result<workspace::Walk> walk(const workspace::WalkOptions& options) const;

  // Where the file `path` of the tree is read: a root and the path below it.
  struct Place {
    int root = -1;
    std::string path;
  };
  Place place_of(const std::string& path) const;

  Result<system::FileIdentity> identity() const { return system::identity_of(root_.get()); }

 private:
  SourceTree(UniqueFd root, UniqueFd git) : root_(std::move(root)), git_(std::move(git)) {}
  Status add_git(workspace::Walk& walk, const workspace::WalkOptions& options) const;

  UniqueFd root_;
  UniqueFd git_;  // empty: `.git` is not replaced
};

}  // namespace cofferdam::snapshot
