// What an index says that its HEAD does not, and how three of them become one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/repository_view.h"

namespace cofferdam::git {

inline constexpr std::string_view kGitlinkMode = "160000";  // a commit of another repository

struct IndexEntry {
  std::string mode;  // "100644", "120000", "160000", …
  std::string id;
  int stage = 0;  // 1 to 3 while a merge has left a conflict
  bool intent_to_add = false;
  bool operator==(const IndexEntry&) const = default;
};

// What an index or a tree holds for one path: nothing, one entry, or the stages of a conflict.
using PathEntries = std::vector<IndexEntry>;

struct StagedPath {
  PathEntries in_head;
  PathEntries in_index;
  bool operator==(const StagedPath&) const = default;
};
// Paths (bytes, relative to the top of the working tree) for which index and HEAD differ.
using StagedPaths = std::map<std::string, StagedPath>;
using PathChanges = std::map<std::string, PathEntries>;

// Of the index in the view against a commit; an empty `head` stands for an unborn branch. The index of another
// directory, when `index_file` (absolute, must be inside the view) names it.
Result<StagedPaths> read_staged(GitProgram& git, const RepositoryView& view, const std::string& head,
                                const std::string& index_file = "");

// What is different in `to` (commits; empty for an unborn branch): its entries by path.
Result<PathChanges> read_tree_changes(GitProgram& git, const RepositoryView& view, const std::string& from,
                                      const std::string& to);

// Whether an index may hold the path: relative, no empty, "." or ".." name, none that a file system could take for
// ".git".
bool is_index_path(std::string_view path);

// The records of `git diff-index --raw -z` and `git diff-tree -r --raw -z`. kDataLoss when it is something else.
Result<StagedPaths> parse_raw_changes(std::string_view output);

struct IndexMergeInput {
  StagedPaths base;                            // the host's when the workspace was sent
  StagedPaths sandbox;                         // now, against the sandbox's own HEAD
  StagedPaths host;                            // now, against the HEAD that the host had before history came home
  PathChanges moved;                           // of the host's HEAD, by the history that came home
  std::set<std::string> differs_from_sandbox;  // paths that the host's new HEAD has otherwise than the sandbox's HEAD
};

struct IndexMerge {
  PathChanges changes;                 // to be made to the host's index
  std::vector<std::string> conflicts;  // staged on both sides in different ways: the host's stays
};

// The rule, path by path. Where nobody staged anything, the index follows HEAD. What only one side staged since the
// workspace was sent is staged afterwards; what the agent committed or took back of the staged work it was sent is no
// longer staged; where both staged, or the host's history changed what the agent staged, the host's side stays.
IndexMerge merge_indexes(const IndexMergeInput& input);

}  // namespace cofferdam::git
