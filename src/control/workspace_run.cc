#include "control/workspace_run.h"

#include <deque>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "control/confined_git.h"
#include "control/real_path.h"
#include "control/workspace_copy.h"
#include "snapshot/pack_writer.h"
#include "snapshot/ulid.h"
#include "system/file.h"
#include "system/state_dir.h"
#include "system/tree.h"

namespace cofferdam::control {
namespace {

using domain::Outcome;

RunReport set_up_failed(const Error& error, Messages& messages) {
  messages.failure(error);
  RunReport report;
  report.outcome.start_error = Outcome::StartError::kSetup;
  report.outcome.message = error.to_string();
  return report;
}

std::string restore_hint(const std::string& id, const std::string& company) {
  const std::string of_company = company == kUsualCompany ? "" : "--company " + company + " ";
  return "cofferdam snapshot restore " + of_company + id + " DIR";
}

// The copies of one run, in a directory of their own.
class Copies {
 public:
  static Result<Copies> make(const domain::Policy& policy, const std::string& state, const std::string& id,
                             git::GitProgram& git) {
    Copies copies;
    const std::string parent = state + "/copies";
    RETURN_IF_ERROR(system::make_private_directories(parent + "/" + id));
    ASSIGN_OR_RETURN(copies.parent_, system::open_directory(parent));
    copies.name_ = id;
    copies.state_ = state;
    copies.path_ = parent + "/" + id;
    ASSIGN_OR_RETURN(const std::string workspace, real_path(policy.workspace));
    RETURN_IF_ERROR(copies.add(workspace, git));
    for (const std::string& path : policy.restore_paths) {
      ASSIGN_OR_RETURN(const std::string real, real_path(path));
      RETURN_IF_ERROR(copies.add(real, git));
    }
    return copies;
  }
  Copies(Copies&&) noexcept = default;
  Copies& operator=(Copies&&) noexcept = delete;
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    if (parent_ && !kept_) (void)system::remove_tree_at(parent_.get(), name_);
  }

  void keep() { kept_ = true; }
  const std::string& path() const { return path_; }
  const std::deque<TreeCopy>& trees() const { return trees_; }

  std::vector<confinement::Substitution> substitutions() const {
    std::vector<confinement::Substitution> out;
    for (const TreeCopy& tree : trees_) out.push_back({.original = tree.original(), .copy = tree.path()});
    return out;
  }

 private:
  Copies() = default;

  // A path inside a tree that is copied already comes home with it.
  Status add(const std::string& original, git::GitProgram& git) {
    for (const TreeCopy& tree : trees_) {
      if (original == tree.original() || original.starts_with(tree.original() + "/")) return {};
    }
    const std::string place = path_ + "/" + std::to_string(trees_.size());
    RETURN_IF_ERROR(system::make_private_directories(place));
    ASSIGN_OR_RETURN(TreeCopy tree, TreeCopy::make(original, place, state_, git));
    trees_.push_back(std::move(tree));
    return {};
  }

  UniqueFd parent_;
  std::string state_;
  std::string name_;
  std::string path_;
  std::deque<TreeCopy> trees_;
  bool kept_ = false;
};

class WorkspaceRun {
 public:
  WorkspaceRun(LocalRunRequest request, const WorkspaceOptions& options, Snapshots& snapshots, git::GitProgram& git,
               Messages& messages)
      : request_(std::move(request)),
        options_(options),
        snapshots_(snapshots),
        git_(git),
        messages_(messages),
        id_(snapshot::new_ulid(snapshot::now_ms())) {}

  RunReport run() {
    if (const Status ready = prepare(); !ready) return not_started(ready.error());
    RunReport report = run_confined(request_, messages_);
    bring_home();
    if (options_.save) save_after();
    report.workspace = std::move(workspace_);
    return report;
  }

 private:
  // What must be there before the command begins.
  Status prepare() {
    if (options_.save) RETURN_IF_ERROR(save("before run " + id_, workspace_.saved_before));
    if (!options_.copy) return {};
    ASSIGN_OR_RETURN(state_, system::state_directory());
    auto copies = Copies::make(request_.policy, state_, id_, git_);
    if (!copies) return std::move(copies.error()).with_context("copying the workspace");
    copies_.emplace(std::move(*copies));
    workspace_.copied = true;
    request_.substitutions = copies_->substitutions();
    return {};
  }

  RunReport not_started(const Error& error) {
    workspace_.failure = error.to_string();
    RunReport report = set_up_failed(error, messages_);
    report.workspace = std::move(workspace_);
    return report;
  }

  Status save(const std::string& label, std::string& id) {
    ASSIGN_OR_RETURN(const std::string directory, real_path(request_.policy.workspace));
    auto saved = snapshots_.save(
        {.company = options_.company, .directory = directory, .label = label, .exclude = {}, .progress = nullptr});
    if (!saved) return std::move(saved.error()).with_context("saving the workspace");
    id = saved->capture.snapshot;
    messages_.note("saved " + label.substr(0, label.find(' ')) + " the run: " + restore_hint(id, options_.company));
    if (saved->key_is_new) {
      messages_.note("a new key was made in " + saved->key_origin +
                     ". Without it nothing that is saved can be read: keep a copy elsewhere (cofferdam key export).");
    }
    return {};
  }

  void save_after() {
    const Status saved = save("after run " + id_, workspace_.saved_after);
    if (!saved) fail(saved.error());
  }

  void bring_home() {
    if (!copies_) return;
    for (const TreeCopy& tree : copies_->trees()) {
      const Status home = tree.bring_home(git_, id_, options_.prefer, state_, workspace_);
      if (!home) fail(home.error());
    }
    tell_merge();
    if (!options_.keep_copy && workspace_.failure.empty()) return;
    copies_->keep();
    workspace_.kept_copy = copies_->path();
    messages_.note("the copy is kept: " + copies_->trees().front().path());
  }

  void fail(const Error& error) {
    messages_.failure(error);
    if (workspace_.failure.empty()) workspace_.failure = error.to_string();
  }

  void tell_merge() {
    constexpr std::size_t kShown = 20;
    const workspace::MergeCounts& counts = workspace_.merged;
    messages_.note("brought home: " + std::to_string(counts.added) + " added, " + std::to_string(counts.updated) +
                   " updated, " + std::to_string(counts.deleted) + " deleted" +
                   (counts.conflicts == 0 ? "" : ", " + std::to_string(counts.conflicts) + " conflicts") +
                   (workspace_.history.empty() ? "" : "; commits: " + workspace_.history));
    for (const std::string& branch : workspace_.branches) messages_.note("new from the run: " + printable(branch));
    for (const std::string& note : workspace_.notes) messages_.note(note);
    std::size_t shown = 0;
    for (const workspace::MergeAction& action : workspace_.remarkable) {
      if (++shown > kShown) break;
      messages_.note(
          printable(action.path) + ": " + workspace::to_string(action.reason) +
          (action.copy_path.empty() ? "" : " (this machine's version: " + printable(action.copy_path) + ")"));
    }
    if (workspace_.remarkable.size() > kShown) {
      messages_.note("… and " + std::to_string(workspace_.remarkable.size() - kShown) + " more");
    }
  }

  LocalRunRequest request_;
  const WorkspaceOptions& options_;
  Snapshots& snapshots_;
  git::GitProgram& git_;
  Messages& messages_;
  const std::string id_;
  std::string state_;
  std::optional<Copies> copies_;
  WorkspaceReport workspace_;
};

}  // namespace

RunReport run_with_workspace(LocalRunRequest request, const WorkspaceOptions& options, Snapshots& snapshots,
                             git::GitProgram& git, Messages& messages) {
  const std::string outcome_file = request.outcome_file;
  if (!outcome_file.empty()) {
    if (const Status ready = prepare_outcome(outcome_file); !ready) return set_up_failed(ready.error(), messages);
  }
  const RunReport report = WorkspaceRun(std::move(request), options, snapshots, git, messages).run();
  if (outcome_file.empty()) return report;
  if (const Status written = write_outcome(outcome_file, report); !written) messages.failure(written.error());
  return report;
}

RunReport run_with_workspace(LocalRunRequest request, const WorkspaceOptions& options, Snapshots& snapshots,
                             Messages& messages) {
  const auto git = confined_git();
  if (!git) return set_up_failed(git.error(), messages);
  return run_with_workspace(std::move(request), options, snapshots, **git, messages);
}

}  // namespace cofferdam::control
