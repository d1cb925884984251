#include "snapshot/content_writer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "crypto/sha256.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 20;
constexpr std::size_t kWaitingPerThread = 2;

const crypto::SecretKey* current_content_key(const KeyRing& keys) {
  const auto key = keys.content_key(keys.current_id());
  if (!key) std::abort();  // a ring always holds its own current key
  return *key;
}

}  // namespace

ContentWriter::ContentWriter(const KeyRing& keys, const ChunkIndex& stored, PackWriter& packs, unsigned threads,
                             int level)
    : keys_(keys),
      stored_(stored),
      packs_(packs),
      level_(level),
      content_key_(current_content_key(keys)),
      chunker_(keys.chunking_key()),
      buffer_(kReadSize, '\0'),
      queue_(threads - 1, kWaitingPerThread * threads) {}

Result<workspace::StableRead> ContentWriter::save(int root, const std::string& path, std::uint64_t size,
                                                  FileContent& content) {
  return size <= kWholeFileLimit ? save_small(root, path, content) : save_long(root, path, content);
}

Result<workspace::StableRead> ContentWriter::save_small(int root, const std::string& path, FileContent& content) {
  std::string bytes;
  ASSIGN_OR_RETURN(workspace::StableRead read, workspace::read_stable(root, path, buffer_, [&](std::string_view piece) {
                     bytes += piece;
                     return Status();
                   }));
  if (read.outcome != workspace::ReadOutcome::kStable) return read;
  // It grew since it was looked at, and would now have to be cut.
  if (bytes.size() > kWholeFileLimit) return save_long(root, path, content);
  content.digest = crypto::sha256(bytes);
  if (!bytes.empty()) RETURN_IF_ERROR(store_small(bytes, content.digest));
  return read;
}

Result<workspace::StableRead> ContentWriter::save_long(int root, const std::string& path, FileContent& content) {
  const auto pieces = std::make_shared<std::deque<Piece>>();
  crypto::Sha256 hash;
  std::string window;
  std::uint64_t total = 0;
  ASSIGN_OR_RETURN(workspace::StableRead read,
                   workspace::read_stable(root, path, buffer_, [&](std::string_view bytes) -> Status {
                     hash.update(bytes);
                     window += bytes;
                     total += bytes.size();
                     if (window.size() < 2 * kLargestChunk) return {};
                     return cut_all(window, false, *pieces, pieces);
                   }));
  if (read.outcome != workspace::ReadOutcome::kStable) return read;
  if (total <= kWholeFileLimit) return save_small(root, path, content);
  RETURN_IF_ERROR(cut_all(window, true, *pieces, pieces));
  content.digest = hash.finish();
  content.pieces = pieces;
  return read;
}

// Cuts chunks off the front of the window while what is left is enough to cut the next one, or all of it.
Status ContentWriter::cut_all(std::string& window, bool last, std::deque<Piece>& pieces,
                              const std::shared_ptr<std::deque<Piece>>& owner) {
  std::string_view rest = window;
  while (!rest.empty() && (last || rest.size() >= kLargestChunk)) {
    const std::size_t length = chunker_.first_chunk(rest);
    Piece& piece = pieces.emplace_back();
    piece.size = static_cast<std::uint32_t>(length);
    RETURN_IF_ERROR(queue_.submit([this, bytes = std::string(rest.substr(0, length)), &piece, owner]() mutable {
      return store_piece(std::move(bytes), piece);
    }));
    rest.remove_prefix(length);
  }
  window.erase(0, window.size() - rest.size());
  return {};
}

// On a thread of the queue. A long file's chunk is a segment of its own.
Status ContentWriter::store_piece(std::string bytes, Piece& piece) {
  piece.digest = crypto::sha256(bytes);
  const Digest name = chunk_name(keys_, piece.digest);
  if (is_stored(name) || !claim(name, bytes.size())) return {};
  ASSIGN_OR_RETURN(const std::string sealed, seal_segment(bytes, *content_key_, level_));
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return packs_.add_segment(sealed, size, {{.name = name, .offset = 0, .size = size}});
}

Status ContentWriter::store_small(std::string_view bytes, const Digest& digest) {
  const Digest name = chunk_name(keys_, digest);
  if (is_stored(name) || !claim(name, bytes.size())) return {};
  segment_.chunks.push_back({.name = name,
                             .offset = static_cast<std::uint32_t>(segment_.plain.size()),
                             .size = static_cast<std::uint32_t>(bytes.size())});
  segment_.plain += bytes;
  return segment_.plain.size() < kSegmentTarget ? Status() : flush_segment();
}

Status ContentWriter::flush_segment() {
  if (segment_.chunks.empty()) return {};
  return queue_.submit([this, segment = std::exchange(segment_, {})]() -> Status {
    ASSIGN_OR_RETURN(const std::string sealed, seal_segment(segment.plain, *content_key_, level_));
    return packs_.add_segment(sealed, static_cast<std::uint32_t>(segment.plain.size()), segment.chunks);
  });
}

bool ContentWriter::has(const Digest& digest) const {
  const Digest name = chunk_name(keys_, digest);
  if (is_stored(name)) return true;
  const std::lock_guard lock(mutex_);
  return claimed_.contains(name);
}

Status ContentWriter::finish() {
  RETURN_IF_ERROR(flush_segment());
  return queue_.finish();
}

ContentCounts ContentWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool ContentWriter::claim(const Digest& name, std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (!claimed_.insert(name).second) return false;
  ++counts_.new_chunks;
  counts_.new_bytes += size;
  return true;
}

}  // namespace cofferdam::snapshot
