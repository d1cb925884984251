// The host's side of outbound.h: what HEAD says, and the road from the sandbox to there.
#include <array>

#include "base/strings.h"
#include "git/host_repository.h"
#include "git/outbound.h"
#include "git/run_refs.h"
#include "system/file.h"

namespace cofferdam::git {
namespace {

using Relation = Integration::Relation;

constexpr int kMostAttempts = 5;
constexpr std::string_view kLabel = "Paperclip remote git sync";
constexpr std::string_view kLogMessage = "cofferdam: history of a run";

std::string before_ref(const std::string& run) {
  return run_ref(run, "before");
}

// A commit message as it is stored: after the headers.
std::string message_of(std::string_view commit) {
  const std::size_t blank = commit.find("\n\n");
  const std::string_view message = blank == std::string_view::npos ? "" : commit.substr(blank + 2);
  return std::string(message.substr(0, message.find('\0')));
}

// "a, b" of the names that merge-tree lists after the tree.
std::string conflict_list(std::string_view names) {
  std::string out;
  for (const std::string_view name : split(names, '\0')) {
    if (name.empty()) break;
    out += (out.empty() ? "conflict in " : ", ") + printable(name);
  }
  return out;
}

class Integrator {
 public:
  Integrator(GitProgram& git, const RepositoryView& view, const ExportedHistory& exported)
      : git_(git), view_(view), imported_(exported.head.id), before_(before_ref(exported.run)) {}

  Result<Integration> run() {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      ASSIGN_OR_RETURN(const Head head, current_head(view_.layout()));
      ASSIGN_OR_RETURN(Integration plan, plan_for(head));
      if (plan.new_head == plan.old_head) return plan;
      RETURN_IF_ERROR(note_before(head));
      ASSIGN_OR_RETURN(const bool moved, move_head(head, plan.new_head));
      if (moved) return plan;
    }
    return Error(ErrorCode::kFailedPrecondition, "Failed to integrate concurrent remote git history for " +
                                                     short_id(imported_) + " after multiple retries.")
        .with_retry(RetryClass::kLater);
  }

 private:
  // What the host's HEAD would become; nothing is moved yet.
  Result<Integration> plan_for(const Head& head) {
    Integration plan{.branch = head.branch, .old_head = head.id, .new_head = imported_, .reason = {}};
    plan.relation = Relation::kFastForward;
    if (head.is_unborn()) return plan;
    ASSIGN_OR_RETURN(const bool known, is_ancestor(git_, view_, imported_, head.id));
    if (known) {
      plan.relation = Relation::kNothing;
      plan.new_head = head.id;
      return plan;
    }
    ASSIGN_OR_RETURN(const bool forward, is_ancestor(git_, view_, head.id, imported_));
    if (forward) return plan;
    ASSIGN_OR_RETURN(const bool related, share_history(head.id));
    plan.relation = related ? Relation::kMerged : Relation::kGrafted;
    ASSIGN_OR_RETURN(plan.new_head, related ? merge(head.id) : graft(head.id));
    return plan;
  }

  // Exit code 1, and only 1, says that there is no common ancestor.
  Result<bool> share_history(const std::string& current) {
    const GitCommand command = view_.command({"merge-base", current, imported_});
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    if (output.exit_code > 1) return git_failure(command, output);
    return output.exit_code == 0;
  }

  Result<std::string> merge(const std::string& current) {
    const auto failed = [&](const std::string& reason) {
      return Error(ErrorCode::kFailedPrecondition, "Failed to merge concurrent remote git histories for " +
                                                       short_id(current) + " and " + short_id(imported_) + ": " +
                                                       reason);
    };
    const GitCommand command =
        view_.command({"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", current, imported_});
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    const std::string_view text = output.standard_output;
    const std::string tree(trimmed(text.substr(0, text.find('\0'))));
    if (output.exit_code == 1) return failed(conflict_list(text.substr(std::min(text.size(), tree.size() + 1))));
    if (output.exit_code != 0) return failed(printable(trimmed(output.standard_error)));
    if (!is_object_id(tree, view_.layout().format)) {
      return Error(ErrorCode::kFailedPrecondition, "Failed to compute a merged git tree for workspace restore.");
    }
    return commit(tree, {current, imported_}, std::string(kLabel) + " merge " + short_id(imported_));
  }

  Result<std::string> graft(const std::string& current) {
    ASSIGN_OR_RETURN(const std::string text, view_.run(git_, {"cat-file", "commit", imported_}));
    return commit(imported_ + "^{tree}", {current},
                  std::string(trimmed(message_of(text))) + "\n\n(" + std::string(kLabel) + " graft " +
                      short_id(imported_) + ": imported history shares no ancestor with " + short_id(current) + ")");
  }

  Result<std::string> commit(const std::string& tree, const std::vector<std::string>& parents,
                             const std::string& message) {
    GitCommand command = view_.command({"commit-tree", tree, "-F", "-"});
    for (const std::string& parent : parents) {
      command.arguments.emplace_back("-p");
      command.arguments.push_back(parent);
    }
    command.input = message + "\n";
    ASSIGN_OR_RETURN(const std::string id, run_successfully(git_, command));
    return std::string(trimmed(id));
  }

  // A repetition after a crash learns from it which HEAD the index still belongs to.
  Status note_before(const Head& head) {
    if (head.is_unborn()) return {};
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer, view_.run(git_, {"update-ref", before_, head.id}));
    return {};
  }

  // False when somebody moved it since it was looked at.
  Result<bool> move_head(const Head& from, const std::string& to) {
    return from.branch.empty() ? move_detached(from.id, to) : move_branch(from, to);
  }

  Result<bool> move_branch(const Head& from, const std::string& to) {
    // git writes HEAD's log when the view's HEAD names the branch.
    RETURN_IF_ERROR(system::replace_file(view_.path() + "/HEAD", "ref: " + from.branch + "\n", 0600));
    const std::string expected = from.is_unborn() ? null_id(view_.layout().format) : from.id;
    const GitCommand command =
        view_.command({"update-ref", "--no-deref", "-m", std::string(kLogMessage), from.branch, to, expected});
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    if (output.exit_code == 0) return true;
    const std::string_view words = output.standard_error;
    const bool lost =
        words.contains("cannot lock ref") && (words.contains("expected") || words.contains("reference already exists"));
    return lost ? Result<bool>(false) : Result<bool>(git_failure(command, output));
  }

  // A detached HEAD is a file of the host's own Git directory; the view's is a copy, whose change keeps the log.
  Result<bool> move_detached(const std::string& from, const std::string& to) {
    ASSIGN_OR_RETURN(GitLock lock, GitLock::take(view_.layout().git_dir, "HEAD"));
    ASSIGN_OR_RETURN(const Head now, current_head(view_.layout()));
    if (!now.branch.empty() || now.id != from) return false;
    RETURN_IF_ERROR(system::write_all(lock.file(), to + "\n", "HEAD.lock"));
    RETURN_IF_ERROR(system::replace_file(view_.path() + "/HEAD", from + "\n", 0600));
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer,
                     view_.run(git_, {"update-ref", "--no-deref", "-m", std::string(kLogMessage), "HEAD", to, from}));
    RETURN_IF_ERROR(lock.publish());
    return true;
  }

  GitProgram& git_;
  const RepositoryView& view_;
  std::string imported_;
  std::string before_;
};

// What an earlier call has integrated already is told again as it was then, so that settle_index can be repeated too.
Integration as_told_before(Integration integration, const Layout& layout, const std::string& run) {
  const std::string* const before = find_ref(layout.refs, before_ref(run));
  if (integration.relation == Relation::kNothing && before != nullptr) integration.old_head = *before;
  return integration;
}

// Why HEAD must not move: empty when it may.
Result<std::string> obstacle(GitProgram& git, const RepositoryView& view) {
  const auto& operations = view.layout().in_progress;
  if (!operations.empty()) return "a " + operations.front() + " is in progress on the host";
  ASSIGN_OR_RETURN(const std::string conflicts, view.run(git, {"ls-files", "--unmerged", "-z"}));
  return conflicts.empty() ? "" : "the host's index holds conflicts";
}

}  // namespace

std::string_view to_string(Integration::Relation relation) {
  static constexpr std::array<std::string_view, 5> kNames = {"nothing new", "fast-forward", "merged", "grafted",
                                                             "held back"};
  return kNames[static_cast<std::size_t>(relation)];
}

Result<Integration> integrate_history(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                      const std::string& scratch) {
  ASSIGN_OR_RETURN(const Layout layout, read_layout(host));
  const Head& head = layout.head;
  Integration nothing{.branch = head.branch, .old_head = head.id, .new_head = head.id, .reason = {}};
  if (exported.head.is_unborn() || exported.head.id == exported.base_head.id) return nothing;
  if (exported.head.id == head.id) return as_told_before(std::move(nothing), layout, exported.run);
  ASSIGN_OR_RETURN(const RepositoryView view, open_host(host, scratch));
  ASSIGN_OR_RETURN(nothing.reason, obstacle(git, view));
  if (!nothing.reason.empty()) {
    nothing.relation = Relation::kHeldBack;
    return nothing;
  }
  ASSIGN_OR_RETURN(Integration integration, Integrator(git, view, exported).run());
  return as_told_before(std::move(integration), layout, exported.run);
}

Result<Homecoming> bring_history_home(GitProgram& git, const std::string& host, ExportRequest request) {
  Homecoming out;
  ASSIGN_OR_RETURN(out.exported, export_history(git, request));
  ASSIGN_OR_RETURN(out.imported, import_history(git, host, out.exported, request.scratch, request.bounds));
  if (out.imported.needs_full_bundle) {
    request.scope = BundleScope::kEverything;
    ASSIGN_OR_RETURN(out.exported, export_history(git, request));
    ASSIGN_OR_RETURN(out.imported, import_history(git, host, out.exported, request.scratch, request.bounds));
  }
  if (out.imported.needs_full_bundle) {
    return Error(ErrorCode::kFailedPrecondition,
                 "The history of the run builds on commits that the host does not have");
  }
  auto integration = integrate_history(git, host, out.exported, request.scratch);
  if (integration) {
    out.integration = *std::move(integration);
  } else {
    out.failure = std::move(integration.error()).with_hint("The commits of the run are kept at " + out.imported.prefix);
  }
  return out;
}

}  // namespace cofferdam::git
