// Reads stored segments and proves what comes out of them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/chunk_index.h"
#include "snapshot/key_ring.h"
#include "store/object_store.h"

namespace cofferdam::snapshot {

// Whether an error says that something stored is damaged or gone, as opposed to not being reachable now.
bool is_damage(const Error& error);

// The plaintext of a segment. kDataLoss names the pack.
Result<std::string> read_segment(store::ObjectStore& objects, const KeyRing& keys, const KnownPack& pack,
                                 const SegmentPlace& segment);

// The chunk in its segment's plaintext; kDataLoss when its content has another digest.
Result<std::string_view> chunk_in(std::string_view segment, const ChunkLocation& place, const Digest& digest);

}  // namespace cofferdam::snapshot
