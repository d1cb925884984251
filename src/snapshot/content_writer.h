// Turns the content of files into stored chunks: read once, hashed, cut, deduplicated, compressed, sealed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "crypto/seal.h"
#include "snapshot/block_pool.h"
#include "snapshot/chunk_index.h"
#include "snapshot/chunker.h"
#include "snapshot/key_ring.h"
#include "snapshot/manifest.h"
#include "snapshot/pack_writer.h"
#include "system/job_queue.h"
#include "workspace/stable_read.h"

namespace cofferdam::snapshot {

// What one file became. Pieces may still be filled in by other threads until ContentWriter::finish().
struct FileContent {
  Digest digest;
  std::shared_ptr<std::deque<Piece>> pieces;  // null for a file of one chunk
};

struct ContentCounts {
  std::uint64_t new_chunks = 0;
  std::uint64_t new_bytes = 0;  // plaintext that was not stored before
};

// One thread reads and hashes files; small chunks gather in a segment, and compressing, sealing and writing happen on
// the queue's threads (for long files hashing the chunks too). Memory: what the queue's length of the largest chunks
// takes, read and sealed. Not thread-safe; one per save.
class ContentWriter {
 public:
  ContentWriter(const KeyRing& keys, const ChunkIndex& stored, PackWriter& packs, unsigned threads, int level);

  // Reads `path` beneath `root` once. `content` is set when the outcome is kStable.
  Result<workspace::StableRead> save(int root, const std::string& path, std::uint64_t size, FileContent& content);

  // Whether the chunk with this content digest is stored or on its way.
  bool has(const Digest& digest) const;

  // Everything given so far is in the pack writer, which the caller finishes.
  Status finish();

  ContentCounts counts() const;

 private:
  class LongFile;
  struct Segment {
    std::string plain;
    std::vector<NewChunk> chunks;
  };

  Result<workspace::StableRead> save_small(int root, const std::string& path, FileContent& content);
  Result<workspace::StableRead> save_long(int root, const std::string& path, FileContent& content);
  Status store_piece(std::string_view bytes, Piece& piece);
  Status store_small(std::string_view bytes, const Digest& digest);
  Status flush_segment();
  // True for the one caller that must store the chunk.
  bool claim(const Digest& name, std::size_t size);
  bool is_stored(const Digest& name) const { return stored_.find(name) != nullptr; }

  const KeyRing& keys_;
  const ChunkIndex& stored_;
  PackWriter& packs_;
  const int level_;
  const crypto::SecretKey* content_key_;
  Chunker chunker_;
  std::string buffer_;
  BlockPool blocks_;
  Segment segment_;
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_set<Digest, DigestHash> claimed_;
  ContentCounts counts_;
  system::JobQueue queue_;  // destroyed first: its jobs use everything above
};

// The name under which a chunk with this content digest is stored.
inline Digest chunk_name(const KeyRing& keys, const Digest& content) {
  return crypto::keyed_name(keys.naming_key(), content.view());
}

}  // namespace cofferdam::snapshot
