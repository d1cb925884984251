// The history part of inbound.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"
#include "domain/path.h"
#include "git/files.h"
#include "git/inbound.h"
#include "git/portable_config.h"
#include "git/repository_view.h"
#include "git/staged.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr std::chrono::minutes kPackTime{10};
constexpr std::uint64_t kExcludeBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kShallowBytes = std::uint64_t{16} << 20;

ConfigSetting setting(std::string section, std::string key, std::string value) {
  return {.section = std::move(section), .subsection = {}, .key = std::move(key), .value = std::move(value)};
}

// What git init writes, and what may travel of the host's.
std::string standalone_config(const Layout& layout) {
  std::vector<ConfigSetting> out = {setting("core", "repositoryformatversion", "0"),
                                    setting("core", "filemode", "true"), setting("core", "bare", "false"),
                                    setting("core", "logallrefupdates", "true")};
  if (layout.format == ObjectFormat::kSha256) {
    out.front().value = "1";
    out.push_back(setting("extensions", "objectformat", "sha256"));
  }
  for (ConfigSetting& kept : portable_settings(layout.config)) {
    if (kept.section == "extensions" || kept.is("core", "repositoryformatversion") || kept.is("core", "bare")) continue;
    out.push_back(std::move(kept));
  }
  return render_config(out);
}

// In order of their names.
std::vector<Ref> travelling_refs(const Layout& layout, Depth depth) {
  std::vector<Ref> out;
  for (const Ref& ref : layout.refs) {
    const bool travels = depth == Depth::kOne
                             ? ref.name == layout.head.branch
                             : ref.name.starts_with("refs/heads/") || ref.name.starts_with("refs/tags/") ||
                                   ref.name.starts_with("refs/remotes/");
    if (travels) out.push_back(ref);
  }
  return out;
}

class StandaloneMaker {
 public:
  StandaloneMaker(GitProgram& git, const RepositoryView& view, Depth depth, const std::string& destination)
      : git_(git), view_(view), depth_(depth), destination_(destination) {}

  Status make() {
    if (::mkdir(destination_.c_str(), 0700) != 0) return Error::from_errno(errno, "make " + printable(destination_));
    ASSIGN_OR_RETURN(const UniqueFd target, system::open_directory(destination_));
    for (const char* name : {"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info"}) {
      RETURN_IF_ERROR(system::make_directories_beneath(target.get(), name, 0700));
    }
    RETURN_IF_ERROR(write_new(target.get(), "config", standalone_config(layout())));
    RETURN_IF_ERROR(write_new(target.get(), "packed-refs", render_packed_refs(travelling_refs(layout(), depth_))));
    const Head& head = layout().head;
    RETURN_IF_ERROR(write_new(target.get(), "HEAD", (head.branch.empty() ? head.id : "ref: " + head.branch) + "\n"));
    RETURN_IF_ERROR(copy_optional(view_.fd(), "info/exclude", target.get(), "info/exclude", kExcludeBytes));
    RETURN_IF_ERROR(copy_index(view_.fd(), target.get()));
    RETURN_IF_ERROR(write_shallow(target.get()));
    return pack();
  }

 private:
  const Layout& layout() const { return view_.layout(); }

  Status write_shallow(int target) {
    if (depth_ == Depth::kOne) {
      return layout().head.is_unborn() ? Status() : write_new(target, "shallow", layout().head.id + "\n");
    }
    RETURN_IF_ERROR(copy_optional(view_.fd(), "shallow", target, "shallow", kShallowBytes));
    return {};
  }

  Status pack() {
    GitCommand command =
        view_.command({"pack-objects", "-q", "--revs", "--delta-base-offset", destination_ + "/objects/pack/pack"});
    command.writable.push_back(destination_);
    // git makes its temporary pack in the object directory and renames it: in a sandbox the two must be one mount.
    command.environment.push_back("GIT_OBJECT_DIRECTORY=" + destination_ + "/objects");
    command.environment.push_back("GIT_ALTERNATE_OBJECT_DIRECTORIES=" + view_.path() + "/objects");
    command.timeout = kPackTime;
    if (depth_ == Depth::kOne && !layout().head.is_unborn()) command.input = "--shallow " + layout().head.id + "\n";
    if (!layout().head.is_unborn()) command.input += layout().head.id + "\n";
    for (const Ref& ref : travelling_refs(layout(), depth_)) command.input += ref.id + "\n";
    ASSIGN_OR_RETURN(const std::string staged, staged_objects());
    command.input += staged;
    if (command.input.empty()) return {};
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string name, run_successfully(git_, command));
    return {};
  }

  // One object name a line: every blob that the index has beyond HEAD and, unless it holds conflicts, its tree, whose
  // parts it may name as a cache.
  Result<std::string> staged_objects() {
    std::string out;
    bool has_conflicts = false;
    ASSIGN_OR_RETURN(const StagedPaths staged, read_staged(git_, view_, layout().head.id));
    for (const auto& [path, entry] : staged) {
      for (const IndexEntry& stage : entry.in_index) {
        if (stage.mode != kGitlinkMode) out += stage.id + "\n";
        has_conflicts = has_conflicts || stage.stage != 0;
      }
    }
    if (has_conflicts || !system::status_beneath(view_.fd(), "index")) return out;
    ASSIGN_OR_RETURN(const std::string tree, view_.run(git_, {"write-tree"}));
    return out + tree;
  }

  GitProgram& git_;
  const RepositoryView& view_;
  Depth depth_;
  const std::string& destination_;
};

}  // namespace

Status make_standalone_history(GitProgram& git, const Layout& layout, Depth depth, const std::string& destination,
                               const std::string& scratch) {
  if (!layout.is_repository()) {
    return Error(ErrorCode::kFailedPrecondition,
                 printable(layout.workspace) + " is " + std::string(to_string(layout.kind)));
  }
  if (!layout.in_progress.empty()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "A " + layout.in_progress.front() + " is in progress in " + printable(layout.workspace))
        .with_hint("Finish it or give it up (--abort), then start again.");
  }
  ASSIGN_OR_RETURN(const RepositoryView view, RepositoryView::copy_of(layout, scratch));
  const Status made = StandaloneMaker(git, view, depth, destination).make();
  if (made || made.error().code() == ErrorCode::kAlreadyExists) return made;
  if (const auto parent = system::open_directory(domain::parent_of(destination))) {
    (void)system::remove_tree_at(parent->get(), std::string(domain::name_of(destination)));
  }
  return made;
}

}  // namespace cofferdam::git
