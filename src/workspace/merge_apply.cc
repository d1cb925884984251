#include "workspace/merge_apply.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "system/tree.h"
#include "workspace/merge_files.h"
#include "workspace/merge_journal.h"
#include "workspace/merge_places.h"

namespace cofferdam::workspace {
namespace {

constexpr std::size_t kSynchroniseOneByOne = 64;

bool brings_something(MergeVerb verb) {
  return verb == MergeVerb::kAdd || verb == MergeVerb::kUpdate || verb == MergeVerb::kMakeDirectory;
}

Error changed_too_much(const std::string& path) {
  return Error(ErrorCode::kFailedPrecondition, printable(path) + " changed on the host during the merge")
      .with_hint("Nothing was changed. Bring the results home again.")
      .with_retry(RetryClass::kAtOnce);
}

// One step's target: its parent directory, held open, and its name there.
struct Target {
  system::Parent parent;
  Place place() const { return {parent.directory.get(), parent.name}; }
};

class Application {
 public:
  Application(const MergeRequest& request, const MergePlan& plan, MergeJournal& journal, MergePlaces places)
      : request_(request), plan_(plan), journal_(journal), places_(std::move(places)) {}

  Status run() {
    RETURN_IF_ERROR(prepare_everything());
    for (std::size_t number = 0; number < plan_.actions.size(); ++number) {
      RETURN_IF_ERROR(in_context(carry_out(number), printable(plan_.actions[number].path)));
    }
    RETURN_IF_ERROR(reach("commit"));
    RETURN_IF_ERROR(synchronise_everything());
    RETURN_IF_ERROR(reach("commit.mark"));
    return journal_.commit();
  }

  std::vector<MergeAction> deviations() && { return std::move(deviations_); }

 private:
  Status reach(std::string_view name) { return workspace::reach(request_.faults, name); }

  Status synchronise_everything() const {
    if (::syncfs(request_.target) == 0) return {};
    return Error::from_errno(errno, "synchronise the workspace's file system");
  }

  Status prepare_everything() {
    const auto files = std::ranges::count_if(plan_.actions, [](const MergeAction& action) {
      return brings_something(action.verb) && action.after->kind == EntryKind::kFile;
    });
    const bool one_by_one = static_cast<std::size_t>(files) <= kSynchroniseOneByOne;
    std::map<std::size_t, Prepared> prepared;
    for (std::size_t number = 0; number < plan_.actions.size(); ++number) {
      if (!brings_something(plan_.actions[number].verb)) continue;
      RETURN_IF_ERROR(reach("prepare"));
      ASSIGN_OR_RETURN(prepared[number], prepare_one(number, one_by_one));
    }
    RETURN_IF_ERROR(reach("prepared.synchronise"));
    if (!one_by_one) RETURN_IF_ERROR(synchronise_everything());
    RETURN_IF_ERROR(reach("asides.record"));
    RETURN_IF_ERROR(journal_.record_asides(planned_asides()));
    RETURN_IF_ERROR(reach("prepared.record"));
    return journal_.record_prepared(std::move(prepared));
  }

  Result<Prepared> prepare_one(std::size_t number, bool durable) {
    const MergeAction& action = plan_.actions[number];
    const Place place = places_.prepared(number);
    RETURN_IF_ERROR(prepare(request_.source, *action.after, place, durable));
    RETURN_IF_ERROR(give_to_workspace(action.path, place));
    ASSIGN_OR_RETURN(const auto identity, identify(place));
    if (!identity) return Error(ErrorCode::kInternal, "a prepared file is gone");
    return *identity;
  }

  // To the owner of what it replaces, else of the whole workspace.
  Status give_to_workspace(const std::string& path, const Place& place) const {
    if (::geteuid() != 0) return {};
    auto like = system::status_beneath(request_.target, path);
    if (!like) like = system::status_beneath(request_.target, "");
    RETURN_IF_ERROR(like);
    return give_to_owner_of(*like, place);
  }

  std::map<std::size_t, std::string> planned_asides() const {
    std::map<std::size_t, std::string> paths;
    for (std::size_t number = 0; number < plan_.actions.size(); ++number) {
      const MergeAction& action = plan_.actions[number];
      if (action.verb == MergeVerb::kMoveAside) paths[number] = action.copy_path;
    }
    return paths;
  }

  Status carry_out(std::size_t number) {
    const MergeAction& action = plan_.actions[number];
    if (action.verb == MergeVerb::kKeep) return {};
    RETURN_IF_ERROR(reach(to_string(action.verb)));
    auto parent = system::open_parent(request_.target, action.path);
    if (!parent) return without_parent(action, parent.error());
    const Target target{std::move(*parent)};
    switch (action.verb) {
      case MergeVerb::kDelete:
        return take_out(number, target);
      case MergeVerb::kRemoveDirectory:
        return remove_directory(number, target);
      case MergeVerb::kMoveAside:
        return move_aside(number, target);
      case MergeVerb::kMakeDirectory:
      case MergeVerb::kAdd:
        return put_in(number, target);
      case MergeVerb::kUpdate:
        return replace(number, target);
      case MergeVerb::kSetMode:
        return set_mode(number, target);
      case MergeVerb::kKeep:
        break;
    }
    return {};
  }

  // What was to go is gone with its directory; what was to come needs a new plan.
  Status without_parent(const MergeAction& action, const Error& error) {
    const bool is_gone = error.code() == ErrorCode::kNotFound;
    if (is_gone && (action.verb == MergeVerb::kDelete || action.verb == MergeVerb::kRemoveDirectory)) return {};
    if (error.code() == ErrorCode::kPermissionDenied || error.code() == ErrorCode::kResourceExhausted) return error;
    return changed_too_much(action.path);
  }

  // Taken away first and looked at then: nobody can change it in between unseen.
  Status take_out(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    const Place original = places_.original(number);
    ASSIGN_OR_RETURN(const auto status, look_at(target.place()));
    if (!status) return {};
    if (S_ISDIR(status->st_mode)) return keep(action);
    ASSIGN_OR_RETURN(const bool moved, rename_to_free(target.place(), original));
    if (!moved) return Error(ErrorCode::kInternal, "the journal holds an original twice");
    RETURN_IF_ERROR(reach("delete.check"));
    ASSIGN_OR_RETURN(const auto found, read_entry(original, action.path));
    if (found && found->same_content(*action.before)) return {};
    RETURN_IF_ERROR(reach("delete.return"));
    ASSIGN_OR_RETURN(const bool returned, rename_to_free(original, target.place()));
    if (returned) return keep(action);
    return set_aside(number, original, target, "");
  }

  Status remove_directory(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    if (::unlinkat(target.parent.directory.get(), target.parent.name.c_str(), AT_REMOVEDIR) == 0) return {};
    if (errno == ENOENT) return {};
    if (errno == ENOTEMPTY || errno == EEXIST) return keep(action, MergeReason::kDirectoryNotEmpty);
    if (errno == ENOTDIR) return keep(action);
    return Error::from_errno(errno, "remove the directory");
  }

  Status move_aside(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    ASSIGN_OR_RETURN(const auto status, look_at(target.place()));
    if (!status) return {};
    ASSIGN_OR_RETURN(const std::string copy,
                     move_beside(journal_, number, target.place(), target.parent.directory.get(), action.path,
                                 action.copy_path, request_.faults));
    if (copy != action.copy_path) deviate(action, MergeVerb::kMoveAside, MergeReason::kBothChanged, copy);
    return {};
  }

  Status put_in(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    ASSIGN_OR_RETURN(const bool free, rename_to_free(places_.prepared(number), target.place()));
    if (free) return {};
    ASSIGN_OR_RETURN(const auto found, look_at(target.place()));
    if (found && S_ISDIR(found->st_mode) && action.verb == MergeVerb::kMakeDirectory) return {};
    ASSIGN_OR_RETURN(const auto there, read_entry(target.place(), action.path));
    if (there && there->same_content(*action.after)) return {};
    if (plan_.prefer == Prefer::kHost) {
      return action.verb == MergeVerb::kMakeDirectory ? changed_too_much(action.path) : keep(action);
    }
    RETURN_IF_ERROR(set_aside(number, target.place(), target, ""));
    RETURN_IF_ERROR(reach("add.again"));
    ASSIGN_OR_RETURN(const bool now_free, rename_to_free(places_.prepared(number), target.place()));
    return now_free ? Status() : changed_too_much(action.path);
  }

  Status replace(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    const Place prepared = places_.prepared(number);
    const Status swapped = exchange(prepared, target.place());
    if (!swapped && swapped.error().code() == ErrorCode::kNotFound) return put_in(number, target);
    RETURN_IF_ERROR(swapped);
    RETURN_IF_ERROR(reach("update.check"));
    ASSIGN_OR_RETURN(const auto found, read_entry(prepared, action.path));
    if (found && (found->same_content(*action.before) || found->same_content(*action.after))) {
      return retire(number, prepared);
    }
    RETURN_IF_ERROR(reach("update.return"));
    if (plan_.prefer != Prefer::kHost) return set_aside(number, prepared, target, "");
    return put_back(number, target);
  }

  // The host's version returns to its place. What comes out must be what we put there; else the host has written once
  // more, and that version is kept too.
  Status put_back(std::size_t number, const Target& target) {
    const Place prepared = places_.prepared(number);
    const Status swapped = exchange(prepared, target.place());
    if (!swapped && swapped.error().code() == ErrorCode::kNotFound) {
      ASSIGN_OR_RETURN(const bool returned, rename_to_free(prepared, target.place()));
      return returned ? keep(plan_.actions[number]) : set_aside(number, prepared, target, "");
    }
    RETURN_IF_ERROR(swapped);
    ASSIGN_OR_RETURN(const auto found, identify(prepared));
    const bool ours = found && *found == journal_.prepared().at(number);
    return ours ? keep(plan_.actions[number]) : set_aside(number, prepared, target, "");
  }

  Status retire(std::size_t number, const Place& from) {
    RETURN_IF_ERROR(reach("update.retire"));
    ASSIGN_OR_RETURN(const bool moved, rename_to_free(from, places_.original(number)));
    return moved ? Status() : Error(ErrorCode::kInternal, "the journal holds an original twice");
  }

  Status set_mode(std::size_t number, const Target& target) {
    const MergeAction& action = plan_.actions[number];
    ASSIGN_OR_RETURN(const auto status, look_at(target.place()));
    const mode_t kind = action.after->kind == EntryKind::kDirectory ? S_IFDIR : S_IFREG;
    const mode_t expected = kind | action.before->mode;
    if (!status || (status->st_mode & (S_IFMT | S_IRWXU | S_IRWXG | S_IRWXO)) != expected) return keep(action);
    return change_mode(target.place(), action.after->mode);
  }

  Status set_aside(std::size_t number, const Place& from, const Target& target, const std::string& first) {
    const MergeAction& action = plan_.actions[number];
    ASSIGN_OR_RETURN(const std::string copy, move_beside(journal_, number, from, target.parent.directory.get(),
                                                         action.path, first, request_.faults));
    deviate(action, MergeVerb::kMoveAside, MergeReason::kHostChangedMeanwhile, copy);
    return {};
  }

  Status keep(const MergeAction& action, MergeReason reason = MergeReason::kHostChangedMeanwhile) {
    deviate(action, MergeVerb::kKeep, reason, "");
    return {};
  }

  void deviate(const MergeAction& action, MergeVerb verb, MergeReason reason, std::string copy) {
    deviations_.push_back({verb, action.path, reason, action.before, action.after, std::move(copy)});
  }

  const MergeRequest& request_;
  const MergePlan& plan_;
  MergeJournal& journal_;
  MergePlaces places_;
  std::vector<MergeAction> deviations_;
};

Result<std::vector<MergeAction>> apply_with_journal(const MergeRequest& request, const MergePlan& plan,
                                                    MergeJournal& journal) {
  RETURN_IF_ERROR(reach(request.faults, "staging"));
  ASSIGN_OR_RETURN(MergePlaces places, MergePlaces::create(request.target, journal));
  Application application(request, plan, journal, std::move(places));
  RETURN_IF_ERROR(application.run());
  return std::move(application).deviations();
}

// The original error stays the error; that the workspace could not be put back is added to it.
Error undone(const MergeRequest& request, Error error) {
  const auto recovered = recover_merge(request.target, request.journal);
  if (recovered) return error;
  return std::move(error)
      .with_context("the merge failed and could not be undone yet (" + recovered.error().to_string() + ")")
      .with_hint("The next command on this workspace tries again; what was replaced is in " + request.journal + ".");
}

}  // namespace

Result<MergeOutcome> apply_merge(const MergeRequest& request, const MergePlan& plan) {
  if (plan.changes_nothing()) return MergeOutcome();
  RETURN_IF_ERROR(reach(request.faults, "journal"));
  ASSIGN_OR_RETURN(MergeJournal journal, MergeJournal::create(request.journal, plan));
  auto deviations = apply_with_journal(request, plan, journal);
  if (!deviations) return undone(request, std::move(deviations.error()));
  // From here on the merge is done; what cleaning up leaves, the next command removes.
  if (reach(request.faults, "clean")) (void)recover_merge(request.target, request.journal, request.faults);
  return MergeOutcome{.deviations = std::move(*deviations)};
}

}  // namespace cofferdam::workspace
