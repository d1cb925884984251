// Reads a tree once and says exactly what is in it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workspace/entry.h"
#include "workspace/path_set.h"

namespace cofferdam::workspace {

class StatCache;

// Upper bounds of one walk; beyond them the walk fails with kResourceExhausted and names the bound.
struct InventoryBounds {
  std::uint64_t entries = 5'000'000;
  std::uint64_t depth = 1'000;
  std::uint64_t bytes = std::uint64_t{1} << 50;
};

struct InventoryOptions {
  PathSet exclude;                      // left out, with everything below
  bool leave_out_dependencies = false;  // untracked node_modules and Python environments (what a snapshot does)
  // Whether Git tracks something below a directory that looks like dependencies; asked only then. Never called
  // concurrently. Unset: nothing is tracked.
  std::function<Result<bool>(const std::string& path)> is_tracked;
  bool hash_content = true;    // else digests stay zero
  StatCache* cache = nullptr;  // digests of files whose identity did not change; updated with what was read
  unsigned threads = 0;        // for hashing; 0: one per processor
  // What to do about set-user-id, set-group-id and sticky bits: no save and no transfer carries them. Either they are
  // masked and listed in Inventory::stripped_modes, or the inventory fails (kFailedPrecondition).
  bool refuse_special_modes = false;
  InventoryBounds bounds;
};

// Walks the tree below `root` by descriptors, without following links and without leaving its file system. A file is
// hashed while its identity holds; one that changes while it is read is read again, three times, and then fails the
// inventory (kFailedPrecondition). What vanishes during the walk is not in it.
Result<Inventory> take_inventory(int root, const InventoryOptions& options);

}  // namespace cofferdam::workspace
