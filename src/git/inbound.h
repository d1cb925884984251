// Getting a host's history ready to be sent: a standalone Git directory, whatever the host's looks like, and the lists
// of what lies in the working tree beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/layout.h"

namespace cofferdam::git {

enum class Depth : std::uint8_t {
  kFull,  // every commit of the branches and tags that the host has
  kOne,   // the commit of HEAD alone, on its branch
};

// What git says of a working tree. Paths are bytes, relative to its top, in order; a directory has no slash at its end.
struct WorkingTree {
  std::vector<std::string> overlay;  // other than in HEAD, untracked, or kept by a filter (LFS): content must travel
  std::vector<std::string> deleted;  // in HEAD and gone
  std::vector<std::string> ignored;  // omitted; a directory stands for all in it
  std::vector<std::string> nested;   // repositories inside: initialised submodules and others
};

// Lists it without running a filter or a hook: content behind one counts as changed. `layout` is the host's. Errors
// when there is no working tree, or git's own.
Result<WorkingTree> list_working_tree(GitProgram& git, const Layout& layout, const std::string& scratch);

// What keeps a workspace from being sent with its history; nothing when it may be. To be asked before anything is made.
Status check_sendable(const Layout& layout, const WorkingTree& tree);

// Makes the Git directory `destination` (absolute, absent; mode 0700) with the history of the host: HEAD as it is
// (branch, detached or unborn), its index with all that is staged, settings and remotes that may travel
// (portable_config.h), info/exclude. No hooks, no logs, no link to anything outside. kFailedPrecondition while a merge
// or rebase is in progress.
Status make_standalone_history(GitProgram& git, const Layout& layout, Depth depth, const std::string& destination,
                               const std::string& scratch);

}  // namespace cofferdam::git
