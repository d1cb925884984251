#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include "base/strings.h"
#include "system/tree.h"
#include "workspace/merge_apply.h"
#include "workspace/merge_files.h"
#include "workspace/merge_journal.h"
#include "workspace/merge_places.h"

namespace cofferdam::workspace {
namespace {

// Undoes the steps from the last to the first. Every step is judged by what is there now, never by how far the merge
// is believed to have come, so that undoing can be interrupted and repeated.
class Undoing {
 public:
  Undoing(MergeJournal& journal, MergePlaces places, FaultPoint* faults)
      : journal_(journal), places_(std::move(places)), faults_(faults) {}

  Status run() {
    for (const JournalStep& step : journal_.steps() | std::views::reverse) {
      RETURN_IF_ERROR(reach(faults_, "undo"));
      RETURN_IF_ERROR(in_context(undo(step), "undoing the merge of " + printable(step.path)));
    }
    return {};
  }

  std::vector<std::string> copies() && { return std::move(copies_); }

 private:
  Status undo(const JournalStep& step) {
    auto parent = system::open_parent(places_.target(), step.path);
    if (!parent) return parent_is_gone(step, parent.error());
    const Place target{parent->directory.get(), parent->name};
    switch (step.verb) {
      case MergeVerb::kSetMode:
        return undo_mode(step, target);
      case MergeVerb::kRemoveDirectory:
        return undo_removal(step, target);
      case MergeVerb::kMakeDirectory:
      case MergeVerb::kAdd:
        RETURN_IF_ERROR(take_back(step, target));
        return give_back(step, target);
      case MergeVerb::kUpdate:
      case MergeVerb::kDelete:
      case MergeVerb::kMoveAside:
        return give_back(step, target);
      case MergeVerb::kKeep:
        break;
    }
    return {};
  }

  // Nothing of ours can be at a path whose directory is gone. An original that belongs there still has to come back.
  Status parent_is_gone(const JournalStep& step, const Error& error) {
    const std::string copy(system::parent_path(step.path));
    ASSIGN_OR_RETURN(const auto original, original_of(step));
    if (!original) return {};
    if (error.code() != ErrorCode::kNotFound) return error;
    RETURN_IF_ERROR(system::make_directories_beneath(places_.target(), copy, S_IRWXU));
    ASSIGN_OR_RETURN(const system::Parent parent, system::open_parent(places_.target(), step.path));
    return give_back(step, {parent.directory.get(), parent.name});
  }

  Status undo_mode(const JournalStep& step, const Place& target) {
    ASSIGN_OR_RETURN(const auto status, look_at(target));
    if (!status || S_ISLNK(status->st_mode) || (status->st_mode & 0777U) != step.mode_after) return {};
    return change_mode(target, step.mode_before);
  }

  Status undo_removal(const JournalStep& step, const Place& target) {
    if (::mkdirat(target.directory, target.name.c_str(), S_IRWXU) == 0) return change_mode(target, step.mode_before);
    return errno == EEXIST ? Status() : Error::from_errno(errno, "make the directory again");
  }

  // Whether what we prepared for the step is at `place`, as we prepared it.
  Result<bool> is_ours(const JournalStep& step, const Place& place) {
    const auto prepared = journal_.prepared().find(step.number);
    if (prepared == journal_.prepared().end()) return false;
    ASSIGN_OR_RETURN(const auto found, identify(place));
    return found && *found == prepared->second;
  }

  Status take_back(const JournalStep& step, const Place& target) {
    ASSIGN_OR_RETURN(const bool ours, is_ours(step, target));
    if (!ours) return {};
    if (step.verb == MergeVerb::kMakeDirectory) return take_back_directory(target);
    if (!places_.has_staging()) return remove_file(target);
    const Place prepared = places_.prepared(step.number);
    ASSIGN_OR_RETURN(const bool moved, rename_to_free(target, prepared));
    if (!moved) return Error(ErrorCode::kInternal, "something has the place of prepared content");
    // Looked at once more: the host may have put its own there in the last moment.
    ASSIGN_OR_RETURN(const bool still_ours, is_ours(step, prepared));
    if (still_ours) return {};
    ASSIGN_OR_RETURN(const bool returned, rename_to_free(prepared, target));
    return returned ? Status() : keep_beside(step, prepared, target);
  }

  // Somebody may have put something into it: then it stays.
  static Status take_back_directory(const Place& target) {
    if (::unlinkat(target.directory, target.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOTEMPTY) return {};
    return Error::from_errno(errno, "remove the directory");
  }

  static Status remove_file(const Place& target) {
    if (::unlinkat(target.directory, target.name.c_str(), 0) == 0) return {};
    return Error::from_errno(errno, "remove the file");
  }

  // Where the host's own version is, if this step moved it anywhere.
  Result<std::optional<Place>> original_of(const JournalStep& step) {
    if (places_.has_staging() && step.verb == MergeVerb::kUpdate) {
      const Place prepared = places_.prepared(step.number);
      ASSIGN_OR_RETURN(const bool ours, is_ours(step, prepared));
      ASSIGN_OR_RETURN(const auto there, look_at(prepared));
      if (there && !ours) return std::optional(prepared);
    }
    if (places_.has_originals()) {
      const Place original = places_.original(step.number);
      ASSIGN_OR_RETURN(const bool ours, is_ours(step, original));
      ASSIGN_OR_RETURN(const auto there, look_at(original));
      if (there && !ours) return std::optional(original);
    }
    return std::optional<Place>();
  }

  Status give_back(const JournalStep& step, const Place& target) {
    ASSIGN_OR_RETURN(const auto original, original_of(step));
    if (original) return give_back_original(step, *original, target);
    // The host had removed what was to be replaced, or its last version was moved aside.
    if (step.verb == MergeVerb::kUpdate && places_.has_originals()) RETURN_IF_ERROR(take_back(step, target));
    return give_back_aside(step, target);
  }

  Status give_back_original(const JournalStep& step, const Place& original, const Place& target) {
    ASSIGN_OR_RETURN(const bool returned, rename_to_free(original, target));
    if (returned) return {};
    ASSIGN_OR_RETURN(const bool ours, is_ours(step, target));
    if (!ours) return keep_beside(step, original, target);
    RETURN_IF_ERROR(exchange(original, target));
    // The host may have written in the last moment: then its version goes back, and the original beside it.
    ASSIGN_OR_RETURN(const bool swapped_ours, is_ours(step, original));
    if (swapped_ours) return {};
    RETURN_IF_ERROR(exchange(original, target));
    return keep_beside(step, original, target);
  }

  Status keep_beside(const JournalStep& step, const Place& original, const Place& target) {
    ASSIGN_OR_RETURN(std::string copy,
                     move_beside(journal_, step.number, original, target.directory, step.path, "", faults_));
    copies_.push_back(std::move(copy));
    return {};
  }

  // A conflict copy goes back when its place is free or has only what we put there; else it stays where it is.
  Status give_back_aside(const JournalStep& step, const Place& target) {
    const auto aside = journal_.asides().find(step.number);
    if (aside == journal_.asides().end()) return {};
    const Place copy{target.directory, std::string(system::base_name(aside->second))};
    ASSIGN_OR_RETURN(const auto there, look_at(copy));
    if (!there) return {};
    ASSIGN_OR_RETURN(const bool returned, rename_to_free(copy, target));
    if (!returned) copies_.push_back(aside->second);
    return {};
  }

  MergeJournal& journal_;
  MergePlaces places_;
  FaultPoint* faults_;
  std::vector<std::string> copies_;
};

Status clean_up(int target, MergeJournal& journal, FaultPoint* faults) {
  RETURN_IF_ERROR(reach(faults, "clean.staging"));
  RETURN_IF_ERROR(system::remove_tree_at(target, journal.staging_name()));
  RETURN_IF_ERROR(reach(faults, "clean.journal"));
  return journal.erase();
}

Result<std::vector<std::string>> roll_back(int target, MergeJournal& journal, FaultPoint* faults) {
  ASSIGN_OR_RETURN(MergePlaces places, MergePlaces::reopen(target, journal));
  Undoing undoing(journal, std::move(places), faults);
  RETURN_IF_ERROR(undoing.run());
  if (::syncfs(target) != 0) return Error::from_errno(errno, "synchronise the workspace's file system");
  return std::move(undoing).copies();
}

}  // namespace

Result<RecoveryOutcome> recover_merge(int target, const std::string& directory, FaultPoint* faults) {
  ASSIGN_OR_RETURN(std::optional<MergeJournal> journal, MergeJournal::load(directory));
  if (!journal) return RecoveryOutcome();
  RecoveryOutcome outcome{.what = journal->is_committed() ? Recovery::kFinished : Recovery::kRolledBack};
  // Before the preparation was written down nothing had been moved.
  if (!journal->is_committed() && journal->was_staged()) {
    ASSIGN_OR_RETURN(outcome.copies, roll_back(target, *journal, faults));
  }
  RETURN_IF_ERROR(clean_up(target, *journal, faults));
  return outcome;
}

}  // namespace cofferdam::workspace
