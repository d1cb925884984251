#include "git/tracked.h"

#include <utility>

namespace cofferdam::git {

Result<TrackedFiles> TrackedFiles::of(GitProgram& git, const Layout& layout, const std::string& scratch) {
  ASSIGN_OR_RETURN(RepositoryView view, RepositoryView::copy_of(layout, scratch));
  return TrackedFiles(git, std::move(view));
}

Result<bool> TrackedFiles::below(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::string listed, view_.run(*git_, {"--literal-pathspecs", "ls-files", "-z", "--", path}));
  return !listed.empty();
}

}  // namespace cofferdam::git
