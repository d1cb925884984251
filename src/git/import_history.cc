// The host's side of outbound.h: objects and references of a run.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/ranges.h"
#include "base/strings.h"
#include "git/bundle_header.h"
#include "git/host_repository.h"
#include "git/outbound.h"
#include "git/run_refs.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr std::chrono::minutes kUnpackTime{10};
constexpr std::size_t kHeadBytes = 4'096;
constexpr std::string_view kBranches = "refs/heads/";
constexpr std::string_view kTags = "refs/tags/";

// What git says when the receiver lacks what a bundle builds on.
bool says_base_is_missing(std::string_view words) {
  static constexpr std::array<std::string_view, 4> kSayings = {"did not send all necessary objects",
                                                               "lacks these prerequisite commits",
                                                               "revision walk setup failed", "unresolved delta"};
  return std::ranges::any_of(kSayings, [&](std::string_view saying) { return words.contains(saying); });
}

// Branches that a working tree has checked out: moving one would leave its files behind.
Result<std::set<std::string>> checked_out_branches(const Layout& host) {
  std::set<std::string> out;
  ASSIGN_OR_RETURN(const UniqueFd common, system::open_directory(host.common_dir));
  const auto add = [&](const std::string& path) {
    const auto text = read_optional(common.get(), path, kHeadBytes);
    if (text && *text && (*text)->starts_with("ref:")) out.emplace(trimmed(std::string_view(**text).substr(4)));
  };
  add("HEAD");
  const auto worktrees = system::open_beneath(common.get(), "worktrees", O_RDONLY | O_DIRECTORY);
  if (!worktrees) return out;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(worktrees->get()));
  for (const std::string& name : names) add("worktrees/" + name + "/HEAD");
  return out;
}

// Names that git's own commands refuse for branches and tags.
bool is_usual_name(std::string_view name) {
  const std::string_view last = name.substr(name.find('/', 5) + 1);
  return last != "HEAD" && !last.starts_with('-');
}

class Importer {
 public:
  Importer(GitProgram& git, const RepositoryView& view, const ExportedHistory& exported, const TransferBounds& bounds)
      : git_(git), view_(view), exported_(exported), bounds_(bounds), wanted_(run_refs(exported)) {
    out_.prefix = run_prefix(exported.run);
  }

  Result<ImportedHistory> run() {
    if (!exported_.bundle.empty()) RETURN_IF_ERROR(take_bundle());
    if (out_.needs_full_bundle) return std::move(out_);
    RETURN_IF_ERROR(check_presence());
    RETURN_IF_ERROR(keep_under_run());
    ASSIGN_OR_RETURN(checked_out_, checked_out_branches(view_.layout()));
    for (const Ref& ref : exported_.refs) RETURN_IF_ERROR(place(ref));
    return std::move(out_);
  }

 private:
  Status take_bundle() {
    const UniqueFd file(::open(exported_.bundle.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return Error::from_errno(errno, "open the bundle of the run");
    ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(file.get()));
    if (!S_ISREG(identity.mode) || identity.size > bounds_.bundle_bytes) {
      return Error(ErrorCode::kResourceExhausted,
                   "The bundle of the run is no file of at most " + std::to_string(bounds_.bundle_bytes) + " bytes");
    }
    ASSIGN_OR_RETURN(const std::string start, system::read_up_to(file.get(), kBundleHeaderBytes));
    ASSIGN_OR_RETURN(const BundleHeader header, parse_bundle_header(start, kMostHeaderLines));
    if (header.format != view_.layout().format) {
      return Error(ErrorCode::kInvalidArgument, "The bundle of the run has another object format");
    }
    RETURN_IF_ERROR(verify());
    if (out_.needs_full_bundle) return {};
    if (::lseek(file.get(), static_cast<off_t>(header.size), SEEK_SET) < 0) {
      return Error::from_errno(errno, "read the bundle of the run");
    }
    return unpack(file.get());
  }

  // Whether the host has what the bundle builds on, and all that leads there.
  Status verify() {
    GitCommand command = view_.command({"bundle", "verify", exported_.bundle});
    command.readable.push_back(exported_.bundle);
    command.timeout = kUnpackTime;
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    if (output.exit_code == 0) return {};
    out_.needs_full_bundle = says_base_is_missing(output.standard_error);
    return out_.needs_full_bundle ? Status() : Status(git_failure(command, output));
  }

  // The pack of the bundle, through a check of every object and of everything that it refers to: what `git fetch` does
  // with transfer.fsckObjects for a remote, but not for a bundle.
  Status unpack(int pack) {
    GitCommand command = view_.command({"index-pack", "--stdin", "--fix-thin", "--strict",
                                        "--max-input-size=" + std::to_string(bounds_.bundle_bytes)});
    command.input_file = pack;
    command.timeout = kUnpackTime;
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    if (output.exit_code == 0) return {};
    out_.needs_full_bundle = says_base_is_missing(output.standard_error);
    return out_.needs_full_bundle ? Status() : Status(git_failure(command, output));
  }

  // Names that an export gave are claims: each must lead to an object of the host now, a branch to a commit.
  Status check_presence() {
    GitCommand check = view_.command({"cat-file", "--batch-check=%(objecttype)"});
    for (const Ref& ref : wanted_) check.input += ref.id + "\n";
    ASSIGN_OR_RETURN(const std::string answer, run_successfully(git_, check));
    const std::vector<std::string_view> types = split(answer, '\n');
    for (std::size_t index = 0; index < wanted_.size(); ++index) {
      const std::string_view type = index < types.size() ? types[index] : "";
      const bool is_branch = wanted_[index].name.starts_with(run_ref(exported_.run, kBranches));
      if (type == "commit" || (!is_branch && (type == "tag" || type == "tree" || type == "blob"))) continue;
      return Error(ErrorCode::kDataLoss, "The bundle of the run does not hold " + printable(wanted_[index].name));
    }
    return {};
  }

  Status keep_under_run() {
    GitCommand update = view_.command({"update-ref", "-m", "cofferdam: import", "--stdin", "-z"});
    for (const Ref& ref : wanted_) {
      update.input += "update " + ref.name;
      update.input += '\0';
      update.input += ref.id;
      update.input += '\0';
      update.input += '\0';
    }
    if (update.input.empty()) return {};
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer, run_successfully(git_, update));
    return {};
  }

  // A branch or tag under its own name, when that takes nothing from the host.
  Status place(const Ref& ref) {
    const bool is_branch = ref.name.starts_with(kBranches);
    if (!is_branch && !ref.name.starts_with(kTags)) return keep(ref, "only branches and tags have a place on the host");
    if (!is_usual_name(ref.name)) return keep(ref, "git refuses such a name");
    if (checked_out_.contains(ref.name)) {
      if (ref.name == exported_.head.branch && ref.name == view_.layout().head.branch) return {};  // HEAD's matter
      return keep(ref, "the branch is checked out on the host");
    }
    const std::string* const now = find_ref(view_.layout().refs, ref.name);
    if (now == nullptr) return update(ref, null_id(exported_.format), out_.created);
    if (*now == ref.id) return {};
    const std::string* const before = find_ref(exported_.base_refs, ref.name);
    if (!is_branch) return keep(ref, "the host has another tag of this name");
    if (before == nullptr || *before != *now) return keep(ref, "the host has moved the branch too");
    ASSIGN_OR_RETURN(const bool forward, is_ancestor(git_, view_, *now, ref.id));
    return forward ? update(ref, *now, out_.forwarded) : keep(ref, "the run has rewritten the branch");
  }

  Status update(const Ref& ref, const std::string& expected, std::vector<std::string>& list) {
    const GitCommand command =
        view_.command({"update-ref", "--no-deref", "-m", "cofferdam: import", ref.name, ref.id, expected});
    ASSIGN_OR_RETURN(const GitOutput output, git_.run(command));
    if (output.exit_code != 0) return keep(ref, printable(trimmed(output.standard_error)));
    list.push_back(ref.name);
    return {};
  }

  Status keep(const Ref& ref, std::string reason) {
    out_.kept.push_back({.name = ref.name, .reason = std::move(reason)});
    return {};
  }

  static constexpr std::size_t kMostHeaderLines = 100'000;

  GitProgram& git_;
  const RepositoryView& view_;
  const ExportedHistory& exported_;
  const TransferBounds& bounds_;
  std::vector<Ref> wanted_;
  std::set<std::string> checked_out_;
  ImportedHistory out_;
};

}  // namespace

Result<ImportedHistory> import_history(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                       const std::string& scratch, const TransferBounds& bounds) {
  RETURN_IF_ERROR(check_run_name(exported.run));
  if (exported.bundle.empty() && run_refs(exported).empty()) return ImportedHistory{.prefix = run_prefix(exported.run)};
  ASSIGN_OR_RETURN(const RepositoryView view, open_host(host, scratch));
  if (view.layout().format != exported.format) {
    return Error(ErrorCode::kUnsupported, "The histories of host and sandbox have different object formats");
  }
  return Importer(git, view, exported, bounds).run();
}

Status forget_imported(GitProgram& git, const std::string& host, const std::string& run, const std::string& scratch) {
  RETURN_IF_ERROR(check_run_name(run));
  ASSIGN_OR_RETURN(const RepositoryView view, open_host(host, scratch));
  GitCommand remove = view.command({"update-ref", "--stdin", "-z"});
  remove.writable.push_back(view.layout().common_dir);  // packed-refs is written anew
  for (const Ref& ref : view.layout().refs) {
    if (!ref.name.starts_with(run_prefix(run) + "/")) continue;
    remove.input += "delete " + ref.name;
    remove.input += '\0';
    remove.input += ref.id;
    remove.input += '\0';
  }
  if (remove.input.empty()) return {};
  ASSIGN_OR_RETURN([[maybe_unused]] const std::string answer, run_successfully(git, remove));
  return {};
}

}  // namespace cofferdam::git
