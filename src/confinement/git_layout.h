// Where the Git data of a workspace lies and which of it a confined command may change.
//
// A `.git` file is only a pointer, and whoever can write the workspace can point it anywhere. It is followed
// outside the workspace only when the other side points back: a linked worktree's directory names this
// workspace in its `gitdir` file, a submodule's directory in its `core.worktree`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"

namespace cofferdam::confinement {

struct GitLayout {
  enum class Kind : std::uint8_t {
    kNone,
    kDirectory,       // .git is a directory of the workspace
    kLinkedWorktree,  // .git points to <common>/worktrees/<name>
    kSubmodule,       // .git points to <superproject's .git>/modules/<name>
  };
  Kind kind = Kind::kNone;
  // Paths outside the workspace that Git needs, least rights: objects, references and logs writable, the rest
  // read-only.
  std::vector<domain::PathGrant> grants;
  // Paths that must stay as they are: hooks and configuration, wherever they lie. Absent ones too.
  struct Protected {
    std::string path;
    bool is_directory = false;
    std::string absent_content;  // what the file holds while it stands in for an absent one
  };
  std::vector<Protected> protected_paths;
  std::string config_lock;   // the lock file that a change of the configuration makes
  std::string exclude_file;  // info/exclude of the repository, whether it exists or not
};

enum class GitProtection : bool { kOff, kOn };

// Fails when the pointer is forged, names a missing place or passes through symbolic links; with protection on also
// when something that must be protected cannot be seen whole (too much of it, too deep, behind a link).
Result<GitLayout> read_git_layout(const HostView& host, const std::string& workspace, GitProtection protection);

}  // namespace cofferdam::confinement
