// Taking snapshots away, and then what nobody needs any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "snapshot/retention.h"
#include "snapshot/snapshot_store.h"

namespace cofferdam::snapshot {

// What a dead writer left is touched only after this long: its clock, or ours, may be wrong.
inline constexpr std::int64_t kAbandonedGraceMs = std::int64_t{60} * 60 * 1000;
// An object that the catalog does not know may be of a pack whose writer is about to name it.
inline constexpr std::int64_t kUnknownObjectGraceMs = std::int64_t{24} * 60 * 60 * 1000;

struct CollectReport {
  std::uint64_t abandoned = 0;  // writers found dead
  std::uint64_t snapshots = 0;  // forgotten
  std::uint64_t packs = 0;      // removed
  std::uint64_t unknown = 0;    // objects removed that no catalog row names
  std::uint64_t bytes = 0;      // freed
};

// Removes everything of `company` that no snapshot needs: dead writers, deleted snapshots, unused packs, unknown
// objects. May run beside saves, and twice at once; each removal is recorded before it is done.
Result<CollectReport> collect(const SnapshotStore& store, const std::string& company, std::int64_t now_ms);

// What `policy` would keep and take of the company's committed snapshots, workspace by workspace, newest first.
struct RetentionPlan {
  std::vector<store::SnapshotRecord> kept;
  std::vector<store::SnapshotRecord> removed;
};
Result<RetentionPlan> plan_retention(const SnapshotStore& store, const std::string& company,
                                     const std::string& workspace, const RetentionPolicy& policy);

}  // namespace cofferdam::snapshot
