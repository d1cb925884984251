// What Git tracks of a working tree.
#pragma once

#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/layout.h"
#include "git/repository_view.h"

namespace cofferdam::git {

// Asks a copy of the index, made once; executes nothing of the repository. One thread; `git` must live as long.
class TrackedFiles {
 public:
  static Result<TrackedFiles> of(GitProgram& git, const Layout& layout, const std::string& scratch);

  // Whether anything at or below `path` is tracked: relative to the top of the working tree, literal.
  Result<bool> below(const std::string& path) const;

 private:
  TrackedFiles(GitProgram& git, RepositoryView view) : git_(&git), view_(std::move(view)) {}
  GitProgram* git_;
  RepositoryView view_;
};

}  // namespace cofferdam::git
