#include "control/workspace_copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/strings.h"
#include "control/real_path.h"
#include "control/saved_history.h"
#include "crypto/sha256.h"
#include "git/inbound.h"
#include "git/layout.h"
#include "git/outbound.h"
#include "system/file.h"
#include "system/state_dir.h"
#include "workspace/baseline.h"
#include "workspace/copy_tree.h"
#include "workspace/inventory.h"
#include "workspace/merge_apply.h"
#include "workspace/workspace_lock.h"

namespace cofferdam::control {
namespace {

using workspace::Inventory;
using workspace::MergeAction;
using workspace::MergeVerb;

constexpr int kPlans = 3;
constexpr unsigned kPrivateFile = 0600;
constexpr const char* kGitDirectory = ".git";

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Where the journal of merges into `original` lies.
std::string journal_of(const std::string& original, const std::string& state) {
  return state + "/merges/" + crypto::sha256(original).hex();
}

Result<workspace::WorkspaceLock> lock_workspace(const std::string& original, const std::string& state) {
  ASSIGN_OR_RETURN(const auto instance, workspace::paperclip_instance_root(environment_variable));
  workspace::WorkspaceLockOptions options;
  options.instance_root = instance.value_or(state);
  return workspace::WorkspaceLock::acquire(original, options);
}

// What is no part of the merge: the history, which comes home by Git itself, and our own state when it lies inside.
workspace::PathSet apart_from_merge(const std::string& original, const std::string& state, bool has_history) {
  workspace::PathSet apart;
  if (has_history) apart.add(kGitDirectory);
  if (const auto inside = path_below(state, original)) apart.add(*inside);
  return apart;
}

Result<Inventory> inventory_of(int root, const workspace::PathSet& apart) {
  workspace::InventoryOptions options;
  options.walk.exclude = apart;
  return workspace::take_inventory(root, options);
}

bool is_remarkable(const MergeAction& action) {
  return action.verb == MergeVerb::kKeep || action.verb == MergeVerb::kMoveAside;
}

Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  return Error::from_errno(errno, "make " + path);
}

void tell_history(const git::Homecoming& home, WorkspaceReport& report) {
  report.branches.insert(report.branches.end(), home.imported.created.begin(), home.imported.created.end());
  report.notes.insert(report.notes.end(), home.exported.notes.begin(), home.exported.notes.end());
  for (const git::KeptRef& kept : home.imported.kept) {
    report.notes.push_back(printable(kept.name) + " is kept below " + home.imported.prefix + ": " + kept.reason + ".");
  }
  if (!home.integration) return;
  report.history = git::to_string(home.integration->relation);
  if (!home.integration->reason.empty()) report.notes.push_back("HEAD stays: " + home.integration->reason + ".");
}

// The caller holds the lock.
Status recover(const std::string& original, const std::string& state) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(original));
  ASSIGN_OR_RETURN(const workspace::RecoveryOutcome recovered,
                   workspace::recover_merge(root.get(), journal_of(original, state)));
  return {};
}

}  // namespace

Status finish_interrupted_merge(const std::string& original) {
  ASSIGN_OR_RETURN(const std::string state, system::state_directory());
  if (::access(journal_of(original, state).c_str(), F_OK) != 0) return {};
  ASSIGN_OR_RETURN(const workspace::WorkspaceLock lock, lock_workspace(original, state));
  return recover(original, state);
}

Result<TreeCopy> TreeCopy::make(const std::string& original, const std::string& place, const std::string& state,
                                git::GitProgram& git) {
  // Half a merge must not be taken for the user's work.
  RETURN_IF_ERROR(finish_interrupted_merge(original));
  TreeCopy copy;
  copy.original_ = original;
  copy.place_ = place;
  ASSIGN_OR_RETURN(const git::Layout layout, git::read_layout(original));
  RETURN_IF_ERROR(make_directory(copy.path()));
  RETURN_IF_ERROR(make_directory(place + "/history"));
  RETURN_IF_ERROR(system::replace_file(place + "/original", original, kPrivateFile));
  ASSIGN_OR_RETURN(const UniqueFd source, system::open_directory(original));
  ASSIGN_OR_RETURN(const UniqueFd target, system::open_directory(copy.path()));
  workspace::PathSet elsewhere;
  if (layout.is_repository() && !history_is_inside(layout)) elsewhere.add(kGitDirectory);
  // The copies must not be copied into themselves.
  if (const auto inside = path_below(state, original)) elsewhere.add(*inside);
  ASSIGN_OR_RETURN(const workspace::CopyReport copied, workspace::copy_tree(source.get(), target.get(), elsewhere));
  if (layout.is_repository()) RETURN_IF_ERROR(copy.copy_history(layout, git));
  ASSIGN_OR_RETURN(Inventory sent,
                   inventory_of(target.get(), apart_from_merge(original, state, copy.history_.has_value())));
  RETURN_IF_ERROR(system::replace_file(place + "/base.json",
                                       workspace::to_json({.exclude = {}, .entries = sent.entries}), kPrivateFile));
  copy.base_ = std::move(sent.entries);
  return copy;
}

// Makes the history of the copy when it did not come with the files, and records what it was.
Status TreeCopy::copy_history(const git::Layout& layout, git::GitProgram& git) {
  if (layout.kind == git::Layout::Kind::kBare) {
    return Error(ErrorCode::kUnsupported, printable(original_) + " is a bare repository: there is nothing to work in")
        .with_hint("Run without --copy, or in a clone of it.");
  }
  if (!history_is_inside(layout)) {
    RETURN_IF_ERROR(git::make_standalone_history(git, layout, git::Depth::kFull, path() + "/" + kGitDirectory, place_));
  }
  ASSIGN_OR_RETURN(const git::Layout sent, git::read_layout(path(), {.origin = git::Origin::kSandbox}));
  RETURN_IF_ERROR(git::record_history_base(sent, place_ + "/history"));
  ASSIGN_OR_RETURN(history_, git::read_history_base(place_ + "/history"));
  return {};
}

Status TreeCopy::bring_home(git::GitProgram& git, const std::string& run, workspace::Prefer prefer,
                            const std::string& state, WorkspaceReport& report) const {
  ASSIGN_OR_RETURN(const workspace::WorkspaceLock lock, lock_workspace(original_, state));
  RETURN_IF_ERROR(system::make_private_directories(state + "/merges"));
  RETURN_IF_ERROR(recover(original_, state));
  if (!history_) return merge_files(run, prefer, state, report);

  ASSIGN_OR_RETURN(const system::TemporaryDirectory scratch, system::TemporaryDirectory::create(place_, "git-"));
  auto home = git::bring_history_home(
      git, original_, {.sandbox = path(), .base = *history_, .scratch = scratch.path(), .run = run, .bounds = {}});
  // Whatever became of the history, the files come home.
  RETURN_IF_ERROR(merge_files(run, prefer, state, report));
  if (!home) return std::move(home.error()).with_context("bringing the history home");
  tell_history(*home, report);
  if (home->failure) return std::move(*home->failure);
  if (!home->integration) return {};
  ASSIGN_OR_RETURN(const git::IndexSettlement settled,
                   git::settle_index(git, original_, home->exported, *home->integration, scratch.path()));
  for (const std::string& conflict : settled.conflicts) {
    report.notes.push_back(printable(conflict) + " was staged on both sides: this machine's staging stays.");
  }
  return {};
}

// The host may change between the look and the merge: then a new plan is made.
Status TreeCopy::merge_files(const std::string& run, workspace::Prefer prefer, const std::string& state,
                             WorkspaceReport& report) const {
  const std::string journal = journal_of(original_, state);
  const workspace::PathSet apart = apart_from_merge(original_, state, history_.has_value());
  ASSIGN_OR_RETURN(const UniqueFd source, system::open_directory(path()));
  ASSIGN_OR_RETURN(const UniqueFd target, system::open_directory(original_));
  ASSIGN_OR_RETURN(const Inventory theirs, inventory_of(source.get(), apart));
  const workspace::MergeOptions options{.prefer = prefer, .run_id = run, .excluded = apart, .is_tracked = {}};
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(const Inventory ours, inventory_of(target.get(), apart));
    ASSIGN_OR_RETURN(const workspace::MergePlan plan, workspace::plan_merge(base_, theirs, ours, options));
    auto merged = workspace::apply_merge({.source = source.get(), .target = target.get(), .journal = journal}, plan);
    if (!merged && merged.error().retry() == RetryClass::kAtOnce && attempt < kPlans) continue;
    if (!merged) return std::move(merged.error());
    std::ranges::copy_if(plan.actions, std::back_inserter(report.remarkable), is_remarkable);
    std::ranges::copy(merged->deviations, std::back_inserter(report.remarkable));
    workspace::add(report.merged, plan.counts);
    return {};
  }
}

}  // namespace cofferdam::control
