// Assembles sealed segments into packs and makes each pack durable and known.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/secret.h"
#include "snapshot/pack_format.h"
#include "store/catalog.h"
#include "store/object_store.h"
#include "system/job_queue.h"

namespace cofferdam::snapshot {

// A chunk of a segment that is being written.
struct NewChunk {
  Digest name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct PackTarget {
  store::ObjectStore& objects;
  store::Catalog& catalog;
  store::WriterLease lease;
  std::string company;
  std::string key_id;
  const crypto::SecretKey* content_key = nullptr;
};

// Thread-safe: segments may come from several threads; the object is written under the lock. A full pack is closed by a
// thread of its own, so that nobody who could compress waits for the disk, while another pack fills. Destroyed without
// finish(), it leaves no object that the catalog does not know.
class PackWriter {
 public:
  explicit PackWriter(PackTarget target) : target_(std::move(target)) {}

  // A sealed segment of `plain` bytes of plaintext with its chunks.
  Status add_segment(std::string_view sealed, std::uint32_t plain, const std::vector<NewChunk>& chunks);

  // Closes the pack that is open. All segments given before are durable and in the catalog afterwards.
  Status finish();

  std::uint64_t stored_bytes() const;

 private:
  struct OpenPack {
    std::string id;
    std::string object;
    std::unique_ptr<store::ObjectWriter> writer;
    std::uint64_t size = 0;
    PackIndex index;
  };
  Status begin();
  Status append(std::string_view bytes);
  Status close_later(OpenPack pack);
  Status close(OpenPack pack);

  PackTarget target_;
  mutable std::mutex mutex_;
  std::optional<OpenPack> open_;
  std::uint64_t stored_ = 0;
  system::JobQueue closing_{1, 1};  // destroyed first: its jobs use the target
};

// Where a company's packs and manifests lie.
std::string pack_object(const std::string& company, const std::string& pack_id);
std::string manifest_object(const std::string& company, const std::string& snapshot_id);

std::int64_t now_ms();

}  // namespace cofferdam::snapshot
