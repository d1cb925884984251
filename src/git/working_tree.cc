// The part of inbound.h about the files beside the history.
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "git/inbound.h"
#include "git/repository_view.h"
#include "git/staged.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

std::vector<std::string> records_of(std::string_view output) {
  std::vector<std::string> out;
  for (const std::string_view record : split(output, '\0')) {
    if (!record.empty()) out.emplace_back(record);
  }
  return out;
}

class TreeLister {
 public:
  TreeLister(GitProgram& git, const RepositoryView& view) : git_(git), view_(view) {}

  Result<WorkingTree> list() {
    RETURN_IF_ERROR(add_changed());
    RETURN_IF_ERROR(add_untracked());
    RETURN_IF_ERROR(add_ignored());
    RETURN_IF_ERROR(add_tracked());
    out_.overlay.assign(overlay_.begin(), overlay_.end());
    std::ranges::sort(out_.nested);
    return std::move(out_);
  }

 private:
  GitCommand command(std::vector<std::string> arguments) const {
    GitCommand out = view_.command(std::move(arguments));
    out.environment.push_back("GIT_WORK_TREE=" + view_.layout().workspace);
    out.readable.push_back(view_.layout().workspace);
    return out;
  }

  Status add_changed() {
    const Layout& layout = view_.layout();
    const std::string head = layout.head.is_unborn() ? empty_tree_id(layout.format) : layout.head.id;
    ASSIGN_OR_RETURN(const std::string output,
                     run_successfully(git_, command({"diff-index", "--raw", "-z", "--no-renames", "--no-abbrev",
                                                     "--ignore-submodules=all", head, "--"})));
    ASSIGN_OR_RETURN(const StagedPaths changes, parse_raw_changes(output));
    for (const auto& [path, change] : changes) {
      if (exists(path)) {
        overlay_.insert(path);
      } else if (!change.in_head.empty()) {
        out_.deleted.push_back(path);
      }
    }
    return {};
  }

  // A repository among them is listed as one directory, with a slash at its end.
  Status add_untracked() {
    ASSIGN_OR_RETURN(const std::string output,
                     run_successfully(git_, command({"ls-files", "--others", "--exclude-standard", "-z"})));
    for (std::string& path : records_of(output)) {
      if (path.ends_with('/')) {
        path.pop_back();
        out_.nested.push_back(std::move(path));
      } else {
        overlay_.insert(std::move(path));
      }
    }
    return {};
  }

  Status add_ignored() {
    ASSIGN_OR_RETURN(const std::string output,
                     run_successfully(git_, command({"ls-files", "--others", "--ignored", "--exclude-standard",
                                                     "--directory", "-z"})));
    out_.ignored = records_of(output);
    for (std::string& path : out_.ignored) {
      if (path.ends_with('/')) path.pop_back();
    }
    std::ranges::sort(out_.ignored);
    return {};
  }

  // Of what is tracked: submodules, and files whose content a filter makes (the history holds only a pointer).
  Status add_tracked() {
    ASSIGN_OR_RETURN(const std::string output, run_successfully(git_, command({"ls-files", "--stage", "-z"})));
    GitCommand attributes = command({"check-attr", "-z", "--stdin", "filter"});
    bool has_attributes = system::status_beneath(view_.fd(), "info/attributes").has_value();
    for (const std::string& record : records_of(output)) {
      const std::size_t tab = record.find('\t');
      if (tab == std::string::npos) return Error(ErrorCode::kDataLoss, "git gave an index that cannot be read");
      const std::string path = record.substr(tab + 1);
      if (record.starts_with(kGitlinkMode)) {
        if (exists(path + "/.git")) out_.nested.push_back(path);
        continue;
      }
      has_attributes = has_attributes || system::base_name(path) == ".gitattributes";
      attributes.input += path + '\0';
    }
    return has_attributes ? add_filtered(attributes) : Status();
  }

  // Triples of path, attribute and value.
  Status add_filtered(const GitCommand& attributes) {
    ASSIGN_OR_RETURN(const std::string output, run_successfully(git_, attributes));
    const std::vector<std::string_view> words = split(output, '\0');
    for (std::size_t at = 0; at + 2 < words.size(); at += 3) {
      const std::string path(words[at]);
      if (words[at + 2] != "unspecified" && words[at + 2] != "unset" && exists(path)) overlay_.insert(path);
    }
    return {};
  }

  bool exists(const std::string& path) const {
    if (!root_) {
      auto root = system::open_directory(view_.layout().workspace);
      if (root) root_ = std::move(*root);
    }
    return system::status_beneath(root_.get(), path).has_value();
  }

  GitProgram& git_;
  const RepositoryView& view_;
  mutable UniqueFd root_;
  std::set<std::string> overlay_;
  WorkingTree out_;
};

}  // namespace

Result<WorkingTree> list_working_tree(GitProgram& git, const Layout& layout, const std::string& scratch) {
  if (!layout.is_repository() || layout.kind == Layout::Kind::kBare) {
    return Error(ErrorCode::kFailedPrecondition,
                 printable(layout.workspace) + " is " + std::string(to_string(layout.kind)));
  }
  ASSIGN_OR_RETURN(const RepositoryView view, RepositoryView::copy_of(layout, scratch));
  return TreeLister(git, view).list();
}

Status check_sendable(const Layout& layout, const WorkingTree& tree) {
  if (tree.nested.empty()) return {};
  return Error(ErrorCode::kUnsupported, printable(layout.workspace) + " holds the repository " +
                                            printable(tree.nested.front()) + ", whose history cannot be sent along")
      .with_hint("Work in it alone, remove it, or run on a copy of the whole directory (--copy).");
}

}  // namespace cofferdam::git
