// What kind of Git repository a directory belongs to and where its parts lie. Everything is read as data; git is not
// started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/config_file.h"
#include "git/refs.h"

namespace cofferdam::git {

// Whose tree it is.
enum class Origin : std::uint8_t {
  kHost,     // the user's own: a `.git` file is followed when the other side points back, alternates anywhere
  kSandbox,  // a run may have written it: nothing outside of it is looked at
};

struct Layout {
  enum class Kind : std::uint8_t {
    kNone,            // no repository here or above
    kSubfolder,       // below the top of a working tree; nothing else is filled in but top_level
    kStandalone,      // .git is a directory
    kLinkedWorktree,  // .git points to <common>/worktrees/<name>
    kSubmodule,       // .git points to a directory whose core.worktree points back
    kBare,            // the directory itself is a repository without a working tree
  };
  Kind kind = Kind::kNone;
  std::string workspace;   // the directory that was asked about, absolute
  std::string top_level;   // of the working tree
  std::string git_dir;     // HEAD and index, absolute
  std::string common_dir;  // objects and references, absolute; for all but linked worktrees the same as git_dir
  ObjectFormat format = ObjectFormat::kSha1;
  bool shallow = false;
  std::vector<std::string> alternates;  // further object directories, absolute, with those that they name
  std::vector<ConfigSetting> config;
  std::vector<Ref> refs;
  Head head;
  std::vector<std::string> in_progress;  // "merge", "rebase", …: what HEAD must not move under

  bool is_repository() const { return kind != Kind::kNone && kind != Kind::kSubfolder; }
};
std::string_view to_string(Layout::Kind kind);

struct LayoutOptions {
  Origin origin = Origin::kHost;
  // Object directories outside of a sandbox's tree that it may use: those that its host had when it was copied.
  std::vector<std::string> allowed_alternates;
};

// `workspace`: absolute and normalised. kPermissionDenied for a pointer that is not trusted, kUnsupported for a
// repository format that Git 2.39 does not know, kFailedPrecondition for one that is broken.
Result<Layout> read_layout(const std::string& workspace, const LayoutOptions& options = {});

// A repository from a sandbox is read by descending into its object store: fails (kPermissionDenied) when a link or a
// special file is anywhere in it, since git would follow it.
Status check_object_store(const Layout& layout);

}  // namespace cofferdam::git
