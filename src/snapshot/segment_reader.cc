#include "snapshot/segment_reader.h"

#include "crypto/sha256.h"

namespace cofferdam::snapshot {

bool is_damage(const Error& error) {
  return error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kNotFound;
}

Result<std::string> read_segment(store::ObjectStore& objects, const KeyRing& keys, const KnownPack& pack,
                                 const SegmentPlace& segment) {
  ASSIGN_OR_RETURN(const crypto::SecretKey* const key, keys.content_key(pack.key_id));
  ASSIGN_OR_RETURN(const std::string sealed, objects.read(pack.object, segment.offset, segment.stored));
  return in_context(open_segment(sealed, *key, segment.plain),
                    "pack " + pack.id + " at byte " + std::to_string(segment.offset));
}

Result<std::string_view> chunk_in(std::string_view segment, const ChunkLocation& place, const Digest& digest) {
  const std::string_view chunk = segment.substr(place.offset, place.size);
  if (crypto::sha256(chunk) == digest) return chunk;
  return Error(ErrorCode::kDataLoss, "a chunk in pack " + place.pack->id + " has another content than its name says");
}

}  // namespace cofferdam::snapshot
