// Reads a tree once and says exactly what is in it.
#pragma once

#include "base/result.h"
#include "workspace/entry.h"
#include "workspace/walk.h"

namespace cofferdam::workspace {

class StatCache;

struct InventoryOptions {
  WalkOptions walk;
  bool hash_content = true;    // else digests stay zero
  StatCache* cache = nullptr;  // digests of files whose identity did not change; updated with what was read
  unsigned threads = 0;        // for hashing; 0: one per processor
};

// A file is hashed while its identity holds; one that changes while it is read is read again, three times, and then
// fails the inventory (kFailedPrecondition). What vanishes is not in it.
Result<Inventory> take_inventory(int root, const InventoryOptions& options);

}  // namespace cofferdam::workspace
