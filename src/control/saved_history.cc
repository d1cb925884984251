#include "control/saved_history.h"

#include <utility>

#include "base/strings.h"
#include "git/inbound.h"
#include "system/file.h"
#include "system/state_dir.h"

namespace cofferdam::control {

bool history_is_inside(const git::Layout& layout) {
  return layout.kind == git::Layout::Kind::kStandalone && layout.alternates.empty();
}

Result<SavedHistory> SavedHistory::of(const std::string& directory,
                                      const Result<std::unique_ptr<git::GitProgram>>& git) {
  SavedHistory history;
  ASSIGN_OR_RETURN(const git::Layout layout, git::read_layout(directory));
  if (layout.kind == git::Layout::Kind::kBare || !layout.is_repository()) return history;
  if (!git) return Error(git.error()).with_context("looking at the repository " + printable(directory));
  ASSIGN_OR_RETURN(const std::string state, system::state_directory());
  RETURN_IF_ERROR(system::make_private_directories(state + "/scratch"));
  ASSIGN_OR_RETURN(history.scratch_, system::TemporaryDirectory::create(state + "/scratch", "save-"));
  if (!history_is_inside(layout)) {
    history.standalone_ = history.scratch_->path() + "/history";
    RETURN_IF_ERROR(
        git::make_standalone_history(**git, layout, git::Depth::kFull, history.standalone_, history.scratch_->path()));
  }
  ASSIGN_OR_RETURN(history.tracked_, git::TrackedFiles::of(**git, layout, history.scratch_->path()));
  return history;
}

Result<bool> SavedHistory::tracks(const std::string& path) const {
  return tracked_ ? tracked_->below(path) : Result<bool>(false);
}

}  // namespace cofferdam::control
