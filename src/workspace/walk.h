// One walk over a tree: every entry with what identifies its file, nothing read yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "system/tree.h"
#include "workspace/entry.h"
#include "workspace/path_set.h"

namespace cofferdam::workspace {

// Upper bounds of one walk; beyond them it fails with kResourceExhausted and names the bound.
struct WalkBounds {
  std::uint64_t entries = 5'000'000;
  std::uint64_t depth = 1'000;
  std::uint64_t bytes = std::uint64_t{1} << 50;
};

struct WalkOptions {
  PathSet exclude;                      // left out, with everything below
  bool leave_out_dependencies = false;  // untracked node_modules and Python environments (what a snapshot does)
  // Whether Git tracks something below a directory that looks like dependencies; asked only then. Never called
  // concurrently. Unset: nothing is tracked.
  std::function<Result<bool>(const std::string& path)> is_tracked;
  // What to do about set-user-id, set-group-id and sticky bits: no save and no transfer carries them. Either they are
  // masked and listed in Walk::stripped_modes, or the walk fails (kFailedPrecondition).
  bool refuse_special_modes = false;
  WalkBounds bounds;
};

struct Seen {
  Entry entry;  // without the digest of a file
  system::FileIdentity identity;
};

// Sorted by path, bytewise.
struct Walk {
  std::vector<Seen> seen;
  std::vector<Omission> omissions;
  std::vector<std::string> stripped_modes;
};

// Walks by descriptors, without following links and without leaving the file system of `root`. What vanishes during
// the walk is not in it.
Result<Walk> walk_tree(int root, const WalkOptions& options);

}  // namespace cofferdam::workspace
