#include "snapshot/content_writer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "crypto/sha256.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 20;
constexpr std::size_t kBlockSize = 2 * kLargestChunk;
// Few chunks are longer: what is looked through for a cut is seldom looked through again.
constexpr std::size_t kWorthCutting = std::size_t{2} << 20;
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
      blocks_(kBlockSize),
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

// A long file while it is read: the bytes go to a block, chunks are cut off its front and worked on where they lie.
// What remains when the block is full moves to the next one.
class ContentWriter::LongFile {
 public:
  explicit LongFile(ContentWriter& writer) : writer_(writer), block_(writer.blocks_.take()) {}

  std::span<char> room() {
    if (filled_ == writer_.blocks_.block_size()) begin_block();
    return {block_.get() + filled_, std::min(kReadSize, writer_.blocks_.block_size() - filled_)};
  }

  // The part of the room that was filled.
  Status add(std::string_view bytes) {
    hash_.update(bytes);
    filled_ += bytes.size();
    total_ += bytes.size();
    while (rest().size() >= kWorthCutting || filled_ == writer_.blocks_.block_size()) {
      const auto length = writer_.chunker_.first_cut(rest());
      if (!length) break;
      RETURN_IF_ERROR(cut(*length));
    }
    return {};
  }

  Status finish(FileContent& content) {
    while (!rest().empty()) RETURN_IF_ERROR(cut(writer_.chunker_.first_chunk(rest())));
    content.digest = hash_.finish();
    content.pieces = pieces_;
    return {};
  }

  std::uint64_t total() const { return total_; }

 private:
  std::string_view rest() const { return {block_.get() + begun_, filled_ - begun_}; }

  void begin_block() {
    BlockPool::Block next = writer_.blocks_.take();
    const std::string_view moved = rest();  // shorter than the largest chunk, or it would have been cut
    moved.copy(next.get(), moved.size());
    block_ = std::move(next);
    begun_ = 0;
    filled_ = moved.size();
  }

  Status cut(std::size_t length) {
    const std::string_view bytes = rest().substr(0, length);
    begun_ += length;
    Piece& piece = pieces_->emplace_back();
    piece.size = static_cast<std::uint32_t>(length);
    return writer_.queue_.submit([&writer = writer_, block = block_, bytes, &piece, owner = pieces_] {
      return writer.store_piece(bytes, piece);
    });
  }

  ContentWriter& writer_;
  BlockPool::Block block_;
  std::size_t begun_ = 0;   // in the block: where the first chunk that is not cut begins
  std::size_t filled_ = 0;  // in the block
  std::uint64_t total_ = 0;
  crypto::Sha256 hash_;
  std::shared_ptr<std::deque<Piece>> pieces_ = std::make_shared<std::deque<Piece>>();
};

Result<workspace::StableRead> ContentWriter::save_long(int root, const std::string& path, FileContent& content) {
  LongFile file(*this);
  ASSIGN_OR_RETURN(workspace::StableRead read, workspace::read_stable(
                                                   root, path, [&] { return file.room(); },
                                                   [&](std::string_view bytes) { return file.add(bytes); }));
  if (read.outcome != workspace::ReadOutcome::kStable) return read;
  if (file.total() <= kWholeFileLimit) return save_small(root, path, content);
  RETURN_IF_ERROR(file.finish(content));
  return read;
}

// On a thread of the queue. A long file's chunk is a segment of its own.
Status ContentWriter::store_piece(std::string_view bytes, Piece& piece) {
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
