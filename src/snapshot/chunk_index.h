// Which chunks of a company are stored, and where.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/digest.h"
#include "base/result.h"
#include "snapshot/key_ring.h"
#include "snapshot/pack_format.h"
#include "snapshot/snapshot_store.h"

namespace cofferdam::snapshot {

struct KnownPack {
  std::string id;
  std::string object;
  std::string key_id;
};

struct ChunkLocation {
  const KnownPack* pack = nullptr;
  SegmentPlace segment;
  std::uint32_t offset = 0;  // in the segment's plaintext
  std::uint32_t size = 0;
};

// About 80 bytes of memory a chunk. Not thread-safe while it is being loaded; afterwards lookups are.
class ChunkIndex {
 public:
  // A pack whose index in the catalog is damaged is read by the copy at its end; when that is damaged too, its chunks
  // count as missing.
  static Result<ChunkIndex> load(const SnapshotStore& store, const KeyRing& keys);

  const ChunkLocation* find(const Digest& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return places_.size(); }
  const std::deque<KnownPack>& packs() const { return packs_; }

 private:
  void add(const store::PackRecord& record, const PackIndex& pack);
  std::deque<KnownPack> packs_;  // stable addresses
  std::unordered_map<Digest, ChunkLocation, DigestHash> places_;
};

}  // namespace cofferdam::snapshot
