#include "git/host_repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/strings.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr unsigned kUsualMode = 0644;

// As the file that it will replace, so that whoever could read that can read this.
void copy_mode(int directory, const std::string& name, int file) {
  const auto status = system::status_beneath(directory, name);
  if (status && S_ISREG(status->st_mode)) (void)::fchmod(file, status->st_mode & 0777);
}

}  // namespace

Result<RepositoryView> open_host(const std::string& host, const std::string& scratch) {
  ASSIGN_OR_RETURN(const Layout layout, read_layout(host));
  if (!layout.is_repository() || layout.kind == Layout::Kind::kBare) {
    return Error(ErrorCode::kFailedPrecondition,
                 printable(host) + " is " + std::string(to_string(layout.kind)) + ", not the top of a working tree");
  }
  return RepositoryView::in_place(layout, scratch);
}

Result<Head> current_head(const Layout& host) {
  ASSIGN_OR_RETURN(const UniqueFd common_dir, system::open_directory(host.common_dir));
  ASSIGN_OR_RETURN(const UniqueFd git_dir, system::open_directory(host.git_dir));
  ASSIGN_OR_RETURN(const std::vector<Ref> refs, read_refs(common_dir.get(), host.format));
  return read_head(git_dir.get(), refs, host.format);
}

Result<bool> is_ancestor(GitProgram& git, const RepositoryView& view, const std::string& older,
                         const std::string& newer) {
  const GitCommand command = view.command({"merge-base", "--is-ancestor", older, newer});
  ASSIGN_OR_RETURN(const GitOutput output, git.run(command));
  if (output.exit_code > 1) return git_failure(command, output);
  return output.exit_code == 0;
}

Result<GitLock> GitLock::take(const std::string& git_dir, const std::string& name) {
  ASSIGN_OR_RETURN(UniqueFd directory, system::open_directory(git_dir));
  auto file = system::open_beneath(directory.get(), name + ".lock", O_RDWR | O_CREAT | O_EXCL, kUsualMode);
  if (!file && file.error().code() == ErrorCode::kAlreadyExists) {
    return Error(ErrorCode::kUnavailable,
                 "Another git command is at work: " + printable(git_dir + "/" + name) + ".lock exists")
        .with_hint("If no git is running any more, remove that file.")
        .with_retry(RetryClass::kLater);
  }
  if (!file) return std::move(file.error());
  copy_mode(directory.get(), name, file->get());
  return GitLock(name, std::move(directory), std::move(*file));
}

GitLock::~GitLock() {
  if (file_) ::unlinkat(directory_.get(), (name_ + ".lock").c_str(), 0);
}

Status GitLock::publish() {
  RETURN_IF_ERROR(system::synchronise(file_.get(), name_ + ".lock"));
  if (::renameat(directory_.get(), (name_ + ".lock").c_str(), directory_.get(), name_.c_str()) != 0) {
    return Error::from_errno(errno, "replace " + name_ + " of the Git directory");
  }
  file_.reset();
  return {};
}

}  // namespace cofferdam::git
