// The user's own repository, as the operations of outbound.h use it.
#pragma once

#include <string>

#include "base/result.h"
#include "git/files.h"
#include "git/repository_view.h"

namespace cofferdam::git {

// A view in place of the repository whose working tree is `host`. kFailedPrecondition when it is none.
Result<RepositoryView> open_host(const std::string& host, const std::string& scratch);

// Where HEAD is now.
Result<Head> current_head(const Layout& host);

// Whether `older` is in the history of `newer` (or is the same). Errors are git's own.
Result<bool> is_ancestor(GitProgram& git, const RepositoryView& view, const std::string& older,
                         const std::string& newer);

// A file <name>.lock in a Git directory, which is how git's own commands keep each other from <name>.
class GitLock {
 public:
  // kUnavailable when somebody else holds it.
  static Result<GitLock> take(const std::string& git_dir, const std::string& name);
  GitLock(GitLock&&) noexcept = default;
  GitLock& operator=(GitLock&&) = delete;
  ~GitLock();

  int directory() const { return directory_.get(); }
  int file() const { return file_.get(); }
  // Puts the lock file, as written until now, in the place of <name>.
  Status publish();

 private:
  GitLock(std::string name, UniqueFd directory, UniqueFd file)
      : name_(std::move(name)), directory_(std::move(directory)), file_(std::move(file)) {}
  std::string name_;
  UniqueFd directory_;
  UniqueFd file_;  // empty once published or moved from
};

}  // namespace cofferdam::git
