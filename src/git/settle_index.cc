// The host's side of outbound.h: the index after history and files have come home.
#include <fcntl.h>
#include <sys/stat.h>

#include "git/files.h"
#include "git/host_repository.h"
#include "git/outbound.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

class Settler {
 public:
  Settler(GitProgram& git, const RepositoryView& view, GitLock& lock) : git_(git), view_(view), lock_(lock) {}

  Result<IndexSettlement> run(const ExportedHistory& exported, const Integration& integration) {
    IndexMergeInput input{.base = exported.base_staged,
                          .sandbox = exported.sandbox_staged,
                          .host = {},
                          .moved = {},
                          .differs_from_sandbox = {}};
    ASSIGN_OR_RETURN(input.host, read_staged(git_, view_, integration.old_head));
    ASSIGN_OR_RETURN(input.moved, read_tree_changes(git_, view_, integration.old_head, integration.new_head));
    ASSIGN_OR_RETURN(const PathChanges differences,
                     read_tree_changes(git_, view_, exported.head.id, integration.new_head));
    for (const auto& [path, entries] : differences) input.differs_from_sandbox.insert(path);
    IndexMerge merged = merge_indexes(input);
    if (!merged.changes.empty()) RETURN_IF_ERROR(apply(merged.changes));
    return IndexSettlement{.changed = merged.changes.size(), .conflicts = std::move(merged.conflicts)};
  }

 private:
  Status apply(const PathChanges& changes) {
    // Whole again where it was split: the other half would stay behind in the view.
    GitCommand update = view_.command({"update-index", "--no-split-index", "-z", "--index-info"});
    GitCommand intend =
        view_.command({"add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"});
    for (const auto& [path, entries] : changes) {
      add_line(update.input, "0 " + null_id(view_.layout().format), path);
      for (const IndexEntry& entry : entries) {
        if (entry.intent_to_add) {
          if (is_file(path)) intend.input += path + '\0';
          continue;
        }
        add_line(update.input, entry.mode + " " + entry.id + " " + std::to_string(entry.stage), path);
      }
    }
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer, run_successfully(git_, update));
    if (!intend.input.empty()) RETURN_IF_ERROR(add_intents(std::move(intend)));
    return publish();
  }

  static void add_line(std::string& input, const std::string& entry, const std::string& path) {
    input += entry + "\t" + path;
    input += '\0';
  }

  bool is_file(const std::string& path) const {
    const auto root = system::open_directory(view_.layout().workspace);
    if (!root) return false;
    const auto status = system::status_beneath(root->get(), path);
    return status && S_ISREG(status->st_mode);
  }

  // The only command here that looks at the working tree: an intention needs a file, whose content it does not read.
  Status add_intents(GitCommand intend) {
    intend.environment.push_back("GIT_WORK_TREE=" + view_.layout().workspace);
    intend.readable.push_back(view_.layout().workspace);
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer, run_successfully(git_, intend));
    return {};
  }

  Status publish() {
    ASSIGN_OR_RETURN(const UniqueFd index, system::open_beneath(view_.fd(), "index", O_RDONLY));
    RETURN_IF_ERROR(append_file(index.get(), lock_.file()));
    return lock_.publish();
  }

  GitProgram& git_;
  const RepositoryView& view_;
  GitLock& lock_;
};

}  // namespace

Result<IndexSettlement> settle_index(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                     const Integration& integration, const std::string& scratch) {
  const bool nothing_moved = integration.old_head == integration.new_head;
  if (nothing_moved && exported.sandbox_staged == exported.base_staged) return IndexSettlement();
  ASSIGN_OR_RETURN(const Layout layout, read_layout(host));
  if (!layout.is_repository()) return Error(ErrorCode::kFailedPrecondition, "The host has no repository any more");
  ASSIGN_OR_RETURN(GitLock lock, GitLock::take(layout.git_dir, "index"));
  // Only now is the copy of the index one that nobody else changes.
  ASSIGN_OR_RETURN(const RepositoryView view, open_host(host, scratch));
  return Settler(git, view, lock).run(exported, integration);
}

}  // namespace cofferdam::git
