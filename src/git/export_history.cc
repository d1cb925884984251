// The sandbox's side of outbound.h.
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/ranges.h"
#include "base/strings.h"
#include "git/layout.h"
#include "git/outbound.h"
#include "git/repository_view.h"
#include "git/run_refs.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr std::string_view kIndexMessage = "Content of the index";
constexpr std::chrono::minutes kPackTime{10};

// References of the sandbox that mean work; what lies elsewhere is a copy of other repositories or of no use outside.
bool may_travel(const Ref& ref) {
  return ref.name.starts_with("refs/heads/") || ref.name.starts_with("refs/tags/") ||
         ref.name.starts_with("refs/notes/") || ref.name == "refs/stash";
}

class Exporter {
 public:
  Exporter(GitProgram& git, const ExportRequest& request, RepositoryView view)
      : git_(git), request_(request), view_(std::move(view)) {
    out_.run = request.run;
    out_.format = view_.layout().format;
    out_.head = view_.layout().head;
    out_.base_head = request.base.head;
    out_.base_refs = request.base.refs;
  }

  Result<ExportedHistory> run() {
    RETURN_IF_ERROR(collect_refs());
    if (const Status staged = collect_staged(); !staged) {
      out_.base_staged.clear();
      out_.sandbox_staged.clear();
      out_.index_id.clear();
      out_.notes.push_back("What was staged in the sandbox stays there: " + staged.error().to_string());
    }
    RETURN_IF_ERROR(note_submodules());
    RETURN_IF_ERROR(pack());
    return std::move(out_);
  }

 private:
  Status collect_refs() {
    for (const Ref& ref : view_.layout().refs) {
      if (!may_travel(ref)) continue;
      const std::string* const before = find_ref(request_.base.refs, ref.name);
      if (before != nullptr && *before == ref.id) continue;
      out_.refs.push_back(ref);
    }
    if (out_.refs.size() <= request_.bounds.refs) return {};
    return Error(ErrorCode::kResourceExhausted,
                 "The run made more than " + std::to_string(request_.bounds.refs) + " branches and tags");
  }

  // Both against the HEAD that they belong to. A base whose commit the run has removed counts as one with nothing
  // staged.
  Status collect_staged() {
    ASSIGN_OR_RETURN(out_.sandbox_staged, read_staged(git_, view_, out_.head.id));
    // git reads an index with any name in it, and refuses to write one.
    const auto dropped =
        std::erase_if(out_.sandbox_staged, [](const auto& path) { return !is_index_path(path.first); });
    if (dropped > 0)
      out_.notes.emplace_back("Paths that no index may hold were staged in the sandbox; they stay there.");
    ASSIGN_OR_RETURN(const UniqueFd base, system::open_directory(request_.base.directory));
    ASSIGN_OR_RETURN(const bool had_index, copy_index(base.get(), view_.fd(), "base-index"));
    if (had_index) {
      auto staged = read_staged(git_, view_, out_.base_head.id, view_.path() + "/base-index");
      if (staged) out_.base_staged = *std::move(staged);
    }
    return carry_index();
  }

  // One commit with every blob that the run's own staging needs, since only what a reference leads to travels.
  Status carry_index() {
    std::set<std::string> blobs;
    for (const auto& [path, staged] : out_.sandbox_staged) {
      const auto before = out_.base_staged.find(path);
      if (before != out_.base_staged.end() && before->second.in_index == staged.in_index) continue;
      for (const IndexEntry& entry : staged.in_index) {
        if (entry.mode != kGitlinkMode && !entry.intent_to_add) blobs.insert(entry.id);
      }
    }
    if (blobs.empty()) return {};
    GitCommand make_tree = view_.command({"mktree", "-z"});
    for (const std::string& id : blobs) {
      make_tree.input += "100644 blob " + id + "\t" + id;
      make_tree.input += '\0';
    }
    ASSIGN_OR_RETURN(const std::string tree, run_successfully(git_, make_tree));
    GitCommand commit = view_.command({"commit-tree", std::string(trimmed(tree)), "-m", std::string(kIndexMessage)});
    // The same index gives the same commit.
    commit.environment.emplace_back("GIT_AUTHOR_DATE=@0 +0000");
    commit.environment.emplace_back("GIT_COMMITTER_DATE=@0 +0000");
    ASSIGN_OR_RETURN(const std::string id, run_successfully(git_, commit));
    out_.index_id = trimmed(id);
    return {};
  }

  // The commit of a submodule that the run moved lies in another repository, which is not entered.
  Status note_submodules() {
    if (out_.head.id == out_.base_head.id) return {};
    const auto changes = read_tree_changes(git_, view_, out_.base_head.id, out_.head.id);
    if (!changes) return {};  // the run has removed the base
    for (const auto& [path, entries] : *changes) {
      if (entries.empty() || entries.front().mode != kGitlinkMode) continue;
      out_.notes.push_back("The submodule " + printable(path) + " is at commit " + short_id(entries.front().id) +
                           " now, which stays in the sandbox.");
    }
    return {};
  }

  Status pack() {
    std::vector<Ref> travelling = run_refs(out_);
    if (travelling.empty()) return {};
    RETURN_IF_ERROR(view_.set_refs(travelling));
    ASSIGN_OR_RETURN(const std::vector<std::string> excluded, commits_of_base());
    GitCommand bundle = view_.command({"bundle", "create", "--quiet", view_.path() + "/bundle", "--stdin"});
    for (const Ref& ref : travelling) bundle.input += ref.name + "\n";
    for (const std::string& id : excluded) bundle.input += "^" + id + "\n";
    bundle.timeout = kPackTime;
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(bundle));
    if (output.standard_error.contains("Refusing to create empty bundle")) return {};
    if (output.exit_code != 0) return git_failure(bundle, output);
    return publish();
  }

  // Commits of the base that are still there to say what need not travel.
  Result<std::vector<std::string>> commits_of_base() {
    std::vector<std::string> out;
    if (request_.scope == BundleScope::kEverything) return out;
    std::set<std::string> ids;
    for (const Ref& ref : request_.base.refs) ids.insert(ref.id);
    if (!request_.base.head.is_unborn()) ids.insert(request_.base.head.id);
    GitCommand check = view_.command({"cat-file", "--batch-check=%(objectname) %(objecttype)"});
    for (const std::string& id : ids) check.input += id + "^{commit}\n";
    ASSIGN_OR_RETURN(const std::string answer, run_successfully(git_, check));
    for (const std::string_view line : split(answer, '\n')) {
      const std::size_t space = line.find(' ');
      if (space != std::string_view::npos && line.substr(space + 1) == "commit")
        out.emplace_back(line.substr(0, space));
    }
    return out;
  }

  Status publish() {
    ASSIGN_OR_RETURN(const struct stat status, system::status_beneath(view_.fd(), "bundle"));
    if (static_cast<std::uint64_t>(status.st_size) > request_.bounds.bundle_bytes) {
      return Error(ErrorCode::kResourceExhausted,
                   "The history of the run takes more than " + std::to_string(request_.bounds.bundle_bytes) + " bytes");
    }
    out_.bundle = request_.scratch + "/" + request_.run + ".bundle";
    if (::rename((view_.path() + "/bundle").c_str(), out_.bundle.c_str()) != 0) {
      return Error::from_errno(errno, "keep the bundle of the run");
    }
    return {};
  }

  GitProgram& git_;
  const ExportRequest& request_;
  RepositoryView view_;
  ExportedHistory out_;
};

}  // namespace

Result<ExportedHistory> export_history(GitProgram& git, const ExportRequest& request) {
  RETURN_IF_ERROR(check_run_name(request.run));
  ASSIGN_OR_RETURN(const Layout layout, read_layout(request.sandbox, {.origin = Origin::kSandbox,
                                                                      .allowed_alternates = request.base.alternates}));
  if (layout.kind != Layout::Kind::kStandalone) {
    return Error(ErrorCode::kNotFound, "The sandbox has no Git repository of its own any more");
  }
  if (layout.format != request.base.format) {
    return Error(ErrorCode::kUnsupported, "The sandbox's repository has the object format " +
                                              std::string(to_string(layout.format)) + ", not " +
                                              std::string(to_string(request.base.format)));
  }
  RETURN_IF_ERROR(check_object_store(layout));
  ASSIGN_OR_RETURN(RepositoryView view, RepositoryView::copy_of(layout, request.scratch));
  return Exporter(git, request, std::move(view)).run();
}

}  // namespace cofferdam::git
