// Reads everything back and says what is whole and what is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "snapshot/snapshot_store.h"
#include "workspace/progress.h"

namespace cofferdam::snapshot {

struct VerifyRequest {
  std::string company;
  std::string snapshot;  // id of a committed one: only what it needs; empty: everything of the company
  workspace::Progress* progress = nullptr;
  unsigned threads = 0;  // 0: one per processor
};

// Something that is not as it was stored.
struct Damage {
  std::string object;   // object key
  std::string problem;  // what is wrong with it
  bool operator==(const Damage&) const = default;
};

// A snapshot that cannot be restored whole.
struct DamagedSnapshot {
  std::string id;
  std::string problem;             // of its manifest; empty when that is whole
  std::vector<std::string> paths;  // files whose content is damaged or missing
};

struct VerifyReport {
  std::uint64_t snapshots = 0;  // looked at
  std::uint64_t packs = 0;
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // stored bytes that were read back
  std::vector<Damage> damage;
  std::vector<DamagedSnapshot> damaged_snapshots;
  bool whole() const { return damage.empty() && damaged_snapshots.empty(); }
};

// Every byte of every pack and manifest is read; every segment is opened and every chunk hashed. Damage is a finding of
// the report; an error is a failure to look (the catalog or the storage cannot be reached, no key).
Result<VerifyReport> verify(const SnapshotStore& store, const VerifyRequest& request);

}  // namespace cofferdam::snapshot
