// Bringing a snapshot back: into a place of its own, published whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "snapshot/snapshot_store.h"
#include "workspace/progress.h"

namespace cofferdam::snapshot {

struct RestoreRequest {
  std::string target;  // absolute; absent, or an empty directory
  std::string path;    // only this entry of the snapshot, with all below; it becomes the target. Empty: everything
  // Whether everything comes back as it was: Git's hooks and settings, which Git would execute, and links that lead
  // outside. Without it they are left out and named.
  bool trust = false;
  workspace::Progress* progress = nullptr;
  unsigned threads = 0;  // 0: one per processor
  std::function<void(std::string_view)> on_step;
};

struct RestoreReport {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;
  std::uint64_t links = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left_out;  // entries that were not brought back: hooks, links that lead outside
};

// Everything is written beside the target, every chunk proven by its digest, then renamed into place: the target is
// never half there. kFailedPrecondition when something is in the place; kDataLoss names the damaged file.
Result<RestoreReport> restore(const SnapshotStore& store, const store::SnapshotRecord& record,
                              const RestoreRequest& request);

}  // namespace cofferdam::snapshot
