#include "snapshot/source_tree.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::Seen;
using workspace::Walk;

constexpr std::string_view kGit = ".git";
constexpr std::string_view kInsideGit = ".git/";

Seen git_entry(const system::FileIdentity& identity) {
  return {.entry = {.path = std::string(kGit),
                    .kind = EntryKind::kDirectory,
                    .mode = identity.mode & workspace::kPermissionBits,
                    .mtime_ns = identity.mtime_ns,
                    .target = {}},
          .identity = identity};
}

}  // namespace

Result<SourceTree> SourceTree::open(const std::string& directory, const std::string& git_directory) {
  ASSIGN_OR_RETURN(UniqueFd root, system::open_directory(directory));
  if (git_directory.empty()) return SourceTree(std::move(root), UniqueFd());
  ASSIGN_OR_RETURN(UniqueFd git, system::open_directory(git_directory));
  return SourceTree(std::move(root), std::move(git));
}

Result<Walk> SourceTree::walk(const workspace::WalkOptions& options) const {
  if (!git_) return workspace::walk_tree(root_.get(), options);
  workspace::WalkOptions without_git = options;
  without_git.exclude.add(std::string(kGit));
  ASSIGN_OR_RETURN(Walk walk, workspace::walk_tree(root_.get(), without_git));
  std::erase_if(walk.omissions, [](const workspace::Omission& omission) { return omission.path == kGit; });
  if (!options.exclude.covers(kGit)) RETURN_IF_ERROR(add_git(walk, options));
  std::ranges::sort(walk.seen, {}, [](const Seen& seen) -> const std::string& { return seen.entry.path; });
  return walk;
}

Status SourceTree::add_git(Walk& walk, const workspace::WalkOptions& options) const {
  workspace::WalkOptions plain;
  plain.bounds = options.bounds;
  ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(git_.get()));
  ASSIGN_OR_RETURN(Walk git, workspace::walk_tree(git_.get(), plain));
  walk.seen.push_back(git_entry(identity));
  for (Seen& seen : git.seen) {
    seen.entry.path.insert(0, kInsideGit);
    walk.seen.push_back(std::move(seen));
  }
  return {};
}

SourceTree::Place SourceTree::place_of(const std::string& path) const {
  if (git_ && path.starts_with(kInsideGit)) return {.root = git_.get(), .path = path.substr(kInsideGit.size())};
  return {.root = root_.get(), .path = path};
}

}  // namespace cofferdam::snapshot
