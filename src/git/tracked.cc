#include "git/tracked.h"

#include "git/repository_view.h"

namespace cofferdam::git {

Result<bool> tracks_below(GitProgram& git, const Layout& layout, const std::string& path, const std::string& scratch) {
  ASSIGN_OR_RETURN(const RepositoryView view, RepositoryView::copy_of(layout, scratch));
  ASSIGN_OR_RETURN(const std::string listed, view.run(git, {"--literal-pathspecs", "ls-files", "-z", "--", path}));
  return !listed.empty();
}

}  // namespace cofferdam::git
