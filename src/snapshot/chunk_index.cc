#include "snapshot/chunk_index.h"

#include <utility>

#include "snapshot/segment_reader.h"

namespace cofferdam::snapshot {
namespace {

using store::PackRecord;

// The index as it ends the pack.
Result<PackIndex> index_in_pack(store::ObjectStore& objects, const PackRecord& record, const crypto::SecretKey& key) {
  if (record.size < kPackHead.size() + kPackFooterSize) return Error(ErrorCode::kDataLoss, "the pack is too short");
  ASSIGN_OR_RETURN(const std::string footer,
                   objects.read(record.object, record.size - kPackFooterSize, kPackFooterSize));
  ASSIGN_OR_RETURN(const std::uint32_t length, index_length(footer));
  if (length > record.size - kPackHead.size() - kPackFooterSize) {
    return Error(ErrorCode::kDataLoss, "the pack's index is longer than the pack");
  }
  ASSIGN_OR_RETURN(const std::string sealed,
                   objects.read(record.object, record.size - kPackFooterSize - length, length));
  return open_index(sealed, key, record.id, record.size);
}

}  // namespace

Result<ChunkIndex> ChunkIndex::load(const SnapshotStore& store, const KeyRing& keys) {
  ASSIGN_OR_RETURN(const std::vector<PackRecord> records, store.catalog().packs(keys.company()));
  ChunkIndex index;
  for (const PackRecord& record : records) {
    ASSIGN_OR_RETURN(const crypto::SecretKey* const key, keys.content_key(record.key_id));
    auto pack = open_index(record.index, *key, record.id, record.size);
    if (!pack) pack = index_in_pack(store.objects(), record, *key);
    if (!pack && !is_damage(pack.error())) return std::move(pack.error());
    if (pack) index.add(record, *pack);
  }
  return index;
}

void ChunkIndex::add(const PackRecord& record, const PackIndex& pack) {
  const KnownPack& known =
      packs_.emplace_back(KnownPack{.id = record.id, .object = record.object, .key_id = record.key_id});
  places_.reserve(places_.size() + pack.chunks.size());
  for (const ChunkPlace& chunk : pack.chunks) {
    places_.insert_or_assign(
        chunk.name,
        ChunkLocation{
            .pack = &known, .segment = pack.segments[chunk.segment], .offset = chunk.offset, .size = chunk.size});
  }
}

}  // namespace cofferdam::snapshot
