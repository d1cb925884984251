#include "snapshot/verify.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "snapshot/chunk_index.h"
#include "snapshot/content_writer.h"
#include "snapshot/segment_reader.h"
#include "system/parallel.h"

namespace cofferdam::snapshot {
namespace {

using store::PackRecord;
using store::SnapshotRecord;

class PackVerifier {
 public:
  PackVerifier(const SnapshotStore& store, const KeyRing& keys, const VerifyRequest& request, VerifyReport& report)
      : store_(store), keys_(keys), request_(request), report_(report) {}

  // Whole chunks end up in sound().
  Status verify(const std::vector<PackRecord>& packs) {
    if (request_.progress) request_.progress->begin("Verifying", total(packs));
    const Status done =
        system::for_each_parallel(packs.size(), request_.threads, [&](std::size_t i) { return look_at(packs[i]); });
    if (request_.progress) request_.progress->end(static_cast<bool>(done));
    report_.packs = packs.size();
    std::ranges::sort(report_.damage, {}, &Damage::object);
    return done;
  }

  bool sound(const Digest& name) const { return sound_.contains(name); }

 private:
  static std::uint64_t total(const std::vector<PackRecord>& packs) {
    std::uint64_t sum = 0;
    for (const PackRecord& pack : packs) sum += pack.size;
    return sum;
  }

  Status look_at(const PackRecord& pack) {
    Status checked = check(pack);
    if (checked || !is_damage(checked.error())) return checked;
    add_damage(pack, checked.error().to_string());
    return {};
  }

  Status check(const PackRecord& pack) {
    if (crypto::sha256(pack.index).view() != pack.digest) {
      return Error(ErrorCode::kDataLoss, "the catalog's copy of the index was altered");
    }
    ASSIGN_OR_RETURN(const crypto::SecretKey* const key, keys_.content_key(pack.key_id));
    ASSIGN_OR_RETURN(const PackIndex index, open_index(pack.index, *key, pack.id, pack.size));
    RETURN_IF_ERROR(check_frame(pack, index));
    return check_segments(pack, index);
  }

  // Head, tail and length of the object; segments must fill everything between without a gap.
  Status check_frame(const PackRecord& pack, const PackIndex& index) {
    const std::string tail = pack_tail(pack.index);
    std::uint64_t end = kPackHead.size();
    for (const SegmentPlace& segment : index.segments) {
      if (segment.offset != end) return Error(ErrorCode::kDataLoss, "the index leaves a gap between segments");
      end += segment.stored;
    }
    ASSIGN_OR_RETURN(const std::uint64_t size, store_.objects().size(pack.object));
    if (size != pack.size || end + tail.size() != size) {
      return Error(ErrorCode::kDataLoss,
                   "it has " + std::to_string(size) + " bytes instead of " + std::to_string(pack.size));
    }
    ASSIGN_OR_RETURN(const std::string head, store_.objects().read(pack.object, 0, kPackHead.size()));
    ASSIGN_OR_RETURN(const std::string last, store_.objects().read(pack.object, end, tail.size()));
    count(head.size() + last.size(), 0);
    if (head == kPackHead && last == tail) return {};
    // The index is in the catalog too: the chunks can be read all the same, and are looked at below.
    add_damage(pack, head == kPackHead ? "its index or end was altered" : "its head was altered");
    return {};
  }

  Status check_segments(const PackRecord& pack, const PackIndex& index) {
    const KnownPack known{.id = pack.id, .object = pack.object, .key_id = pack.key_id};
    std::vector<std::vector<const ChunkPlace*>> chunks(index.segments.size());
    for (const ChunkPlace& chunk : index.chunks) chunks[chunk.segment].push_back(&chunk);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const SegmentPlace& segment = index.segments[i];
      auto plain = read_segment(store_.objects(), keys_, known, segment);
      if (!plain && !is_damage(plain.error())) return std::move(plain.error());
      if (plain) {
        check_chunks(pack, *plain, chunks[i]);
      } else {
        add_damage(pack, "bytes " + std::to_string(segment.offset) + " to " +
                             std::to_string(segment.offset + segment.stored) + ": " + plain.error().message());
      }
      count(segment.stored, chunks[i].size());
    }
    return {};
  }

  void check_chunks(const PackRecord& pack, std::string_view plain, const std::vector<const ChunkPlace*>& chunks) {
    for (const ChunkPlace* chunk : chunks) {
      const Digest digest = crypto::sha256(plain.substr(chunk->offset, chunk->size));
      if (chunk_name(keys_, digest) != chunk->name) {
        add_damage(pack, "a chunk has another content than its name says");
        continue;
      }
      const std::lock_guard lock(mutex_);
      sound_.insert(chunk->name);
    }
  }

  void add_damage(const PackRecord& pack, std::string problem) {
    const std::lock_guard lock(mutex_);
    report_.damage.push_back({.object = pack.object, .problem = std::move(problem)});
  }

  void count(std::uint64_t bytes, std::uint64_t chunks) {
    const std::lock_guard lock(mutex_);
    report_.bytes += bytes;
    report_.chunks += chunks;
    if (request_.progress) request_.progress->add(bytes);
  }

  const SnapshotStore& store_;
  const KeyRing& keys_;
  const VerifyRequest& request_;
  VerifyReport& report_;
  std::mutex mutex_;
  std::set<Digest> sound_;
};

// What of the snapshot cannot be restored, given which chunks are whole.
Result<DamagedSnapshot> examine(const SnapshotStore& store, const KeyRing& keys, const SnapshotRecord& record,
                                const PackVerifier& packs, VerifyReport& report) {
  DamagedSnapshot damaged{.id = record.id, .problem = {}, .paths = {}};
  auto manifest = store.manifest_of(record, keys);
  if (!manifest) {
    if (!is_damage(manifest.error())) return std::move(manifest.error());
    damaged.problem = manifest.error().to_string();
    report.damage.push_back({.object = record.manifest_object, .problem = damaged.problem});
    return damaged;
  }
  report.bytes += record.manifest_size;
  for (const SavedEntry& saved : manifest->entries) {
    bool whole = true;
    for_each_chunk(saved, [&](const Digest& digest, std::uint64_t, std::uint32_t) {
      whole = whole && packs.sound(chunk_name(keys, digest));
    });
    if (!whole) damaged.paths.push_back(saved.entry.path);
  }
  return damaged;
}

Result<std::vector<SnapshotRecord>> snapshots_to_look_at(const SnapshotStore& store, const VerifyRequest& request) {
  if (request.snapshot.empty()) return store.catalog().snapshots({.company = request.company, .workspace = {}});
  ASSIGN_OR_RETURN(const auto record, store.catalog().snapshot(request.snapshot));
  if (!record) return Error(ErrorCode::kNotFound, "there is no snapshot " + request.snapshot);
  return std::vector{*record};
}

Result<std::vector<PackRecord>> packs_to_look_at(const SnapshotStore& store, const VerifyRequest& request) {
  ASSIGN_OR_RETURN(std::vector<PackRecord> packs, store.catalog().packs(request.company));
  if (request.snapshot.empty()) return packs;
  ASSIGN_OR_RETURN(const std::vector<std::string> used, store.catalog().packs_of(request.snapshot));
  const std::set<std::string> wanted(used.begin(), used.end());
  std::erase_if(packs, [&](const PackRecord& pack) { return !wanted.contains(pack.id); });
  return packs;
}

}  // namespace

Result<VerifyReport> verify(const SnapshotStore& store, const VerifyRequest& request) {
  RETURN_IF_ERROR(store.catalog().check());
  ASSIGN_OR_RETURN(const KeyRing keys, store.keys_of(request.company));
  ASSIGN_OR_RETURN(const std::vector<SnapshotRecord> snapshots, snapshots_to_look_at(store, request));
  ASSIGN_OR_RETURN(const std::vector<PackRecord> packs, packs_to_look_at(store, request));
  VerifyReport report;
  PackVerifier verifier(store, keys, request, report);
  RETURN_IF_ERROR(verifier.verify(packs));
  for (const SnapshotRecord& record : snapshots) {
    ASSIGN_OR_RETURN(DamagedSnapshot damaged, examine(store, keys, record, verifier, report));
    if (!damaged.problem.empty() || !damaged.paths.empty()) report.damaged_snapshots.push_back(std::move(damaged));
    ++report.snapshots;
  }
  return report;
}

}  // namespace cofferdam::snapshot
