#include "control/saved_history.h"

#include <utility>

#include "base/strings.h"
#include "git/inbound.h"
#include "git/tracked.h"
#include "system/file.h"
#include "system/state_dir.h"

namespace cofferdam::control {

bool history_is_inside(const git::Layout& layout) {
  return layout.kind == git::Layout::Kind::kStandalone && layout.alternates.empty();
}

Result<SavedHistory> SavedHistory::of(const std::string& directory, git::GitProgram* git) {
  SavedHistory history;
  history.git_ = git;
  ASSIGN_OR_RETURN(git::Layout layout, git::read_layout(directory));
  if (layout.kind == git::Layout::Kind::kBare || !layout.is_repository()) return history;
  if (git == nullptr) {
    return Error(ErrorCode::kFailedPrecondition,
                 printable(directory) + " is a Git repository, and git is not installed")
        .with_hint("Install git, which tells what of a repository is tracked.");
  }
  ASSIGN_OR_RETURN(const std::string state, system::state_directory());
  RETURN_IF_ERROR(system::make_private_directories(state + "/scratch"));
  ASSIGN_OR_RETURN(history.scratch_, system::TemporaryDirectory::create(state + "/scratch", "save-"));
  if (!history_is_inside(layout)) {
    history.standalone_ = history.scratch_->path() + "/history";
    RETURN_IF_ERROR(
        git::make_standalone_history(*git, layout, git::Depth::kFull, history.standalone_, history.scratch_->path()));
  }
  history.layout_ = std::move(layout);
  return history;
}

Result<bool> SavedHistory::tracks(const std::string& path) const {
  if (!layout_) return false;
  return git::tracks_below(*git_, *layout_, path, scratch_->path());
}

}  // namespace cofferdam::control
