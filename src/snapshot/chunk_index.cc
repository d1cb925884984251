#include "snapshot/chunk_index.h"

#include <utility>

namespace cofferdam::snapshot {

Result<ChunkIndex> ChunkIndex::load(store::Catalog& catalog, const KeyRing& keys) {
  ASSIGN_OR_RETURN(const std::vector<store::PackRecord> records, catalog.packs(keys.company()));
  ChunkIndex index;
  for (const store::PackRecord& record : records) {
    ASSIGN_OR_RETURN(const crypto::SecretKey* const key, keys.content_key(record.key_id));
    ASSIGN_OR_RETURN(const PackIndex pack, open_index(record.index, *key, record.id, record.size));
    const KnownPack& known =
        index.packs_.emplace_back(KnownPack{.id = record.id, .object = record.object, .key_id = record.key_id});
    index.places_.reserve(index.places_.size() + pack.chunks.size());
    for (const ChunkPlace& chunk : pack.chunks) {
      index.places_.insert_or_assign(
          chunk.name,
          ChunkLocation{
              .pack = &known, .segment = pack.segments[chunk.segment], .offset = chunk.offset, .size = chunk.size});
    }
  }
  return index;
}

}  // namespace cofferdam::snapshot
