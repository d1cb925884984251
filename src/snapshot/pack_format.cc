#include "snapshot/pack_format.h"

#include <zstd.h>

#include <array>
#include <memory>

#include "base/strings.h"
#include "crypto/seal.h"
#include "snapshot/binary.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::string_view kSegmentContext = "cofferdam segment 1";
constexpr std::size_t kLargestIndex = std::size_t{512} << 20;
constexpr std::size_t kSegmentRow = 8 + 4 + 4;
constexpr std::size_t kChunkRow = Digest::kSize + 4 + 4 + 4;

std::string index_context(const std::string& pack_id) {
  return "cofferdam pack index 1\n" + pack_id;
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// --- content that does not compress: media, archives, what is encrypted

constexpr std::size_t kFrameBlock = std::size_t{128} << 10;  // the longest block of a zstd frame
constexpr std::size_t kSample = std::size_t{4} << 10;
constexpr std::size_t kWorthSampling = 2 * kFrameBlock;
constexpr std::size_t kSampleGain = kSample / 64;  // a frame's own bytes count as no gain
constexpr int kSampleLevel = 1;

// Whether zstd finds nothing in a sample of each block. What is missed: repetition further apart than a sample is long.
bool looks_incompressible(ZSTD_CCtx* context, std::string_view plaintext) {
  if (plaintext.size() < kWorthSampling) return false;
  std::array<char, 2 * kSample> out;
  for (std::size_t at = 0; at + kSample <= plaintext.size(); at += kFrameBlock) {
    const std::size_t size = ZSTD_compressCCtx(context, out.data(), out.size(), &plaintext[at], kSample, kSampleLevel);
    if (ZSTD_isError(size) != 0 || size + kSampleGain < kSample) return false;
  }
  return true;
}

// A zstd frame of raw blocks (RFC 8878, 3.1.1): magic, a descriptor that says "one segment, content size in 4 bytes",
// the size; before each block its size, kind 0 and whether it is the last.
std::string raw_frame_behind(std::size_t before, std::string_view plaintext) {
  std::string out;
  out.reserve(before + ZSTD_compressBound(plaintext.size()) + crypto::kSealOverhead);
  out.resize(before);
  const auto number = [&out](std::size_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  };
  number(ZSTD_MAGICNUMBER, 4);
  number(0xa0, 1);
  number(plaintext.size(), 4);
  while (!plaintext.empty()) {
    const std::string_view block = plaintext.substr(0, kFrameBlock);
    plaintext.remove_prefix(block.size());
    number(block.size() << 3 | (plaintext.empty() ? 1 : 0), 3);
    out += block;
  }
  return out;
}

// `before` bytes of anything, then the frame. One piece of memory for both: what is sealed in place is never copied.
Result<std::string> compress_behind(std::size_t before, std::string_view plaintext, int level) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeCompressor> kContext(ZSTD_createCCtx());
  if (looks_incompressible(kContext.get(), plaintext)) return raw_frame_behind(before, plaintext);
  const std::size_t most = ZSTD_compressBound(plaintext.size());
  std::size_t size = 0;
  std::string out = filled_string(before + most, [&](char* place) {
    size = ZSTD_compressCCtx(kContext.get(), place + before, most, plaintext.data(), plaintext.size(), level);
    return ZSTD_isError(size) != 0 ? 0 : before + size;
  });
  if (ZSTD_isError(size) != 0) return Error(ErrorCode::kInternal, std::string("zstd: ") + ZSTD_getErrorName(size));
  return out;
}

bool place_is_sound(const ChunkPlace& chunk, const PackIndex& index) {
  return chunk.segment < index.segments.size() &&
         std::uint64_t{chunk.offset} + chunk.size <= index.segments[chunk.segment].plain;
}

bool place_is_sound(const SegmentPlace& segment, std::uint64_t pack_size) {
  return segment.plain <= kSegmentLimit && segment.offset <= pack_size && segment.stored <= pack_size - segment.offset;
}

}  // namespace

std::string seal_index(const PackIndex& index, const crypto::SecretKey& content_key, const std::string& pack_id) {
  Encoder encoder;
  encoder.number32(static_cast<std::uint32_t>(index.segments.size()));
  for (const SegmentPlace& segment : index.segments) {
    encoder.number64(segment.offset);
    encoder.number32(segment.stored);
    encoder.number32(segment.plain);
  }
  encoder.number32(static_cast<std::uint32_t>(index.chunks.size()));
  for (const ChunkPlace& chunk : index.chunks) {
    encoder.digest(chunk.name);
    encoder.number32(chunk.segment);
    encoder.number32(chunk.offset);
    encoder.number32(chunk.size);
  }
  return crypto::seal(content_key, std::move(encoder).take(), index_context(pack_id));
}

Result<PackIndex> open_index(std::string_view sealed, const crypto::SecretKey& content_key, const std::string& pack_id,
                             std::uint64_t pack_size) {
  const std::string what = "the index of pack " + pack_id;
  if (sealed.size() > kLargestIndex) return Error(ErrorCode::kResourceExhausted, what + " is too large");
  ASSIGN_OR_RETURN(const std::string plain,
                   in_context(crypto::open(content_key, sealed, index_context(pack_id)), what));
  Decoder decoder(plain);
  PackIndex index;
  index.segments.resize(decoder.count(kSegmentRow));
  for (SegmentPlace& segment : index.segments) {
    segment = {.offset = decoder.number64(), .stored = decoder.number32(), .plain = decoder.number32()};
    if (!place_is_sound(segment, pack_size)) decoder.fail();
  }
  index.chunks.resize(decoder.count(kChunkRow));
  for (ChunkPlace& chunk : index.chunks) {
    chunk = {.name = decoder.digest(),
             .segment = decoder.number32(),
             .offset = decoder.number32(),
             .size = decoder.number32()};
    if (!decoder.failed() && !place_is_sound(chunk, index)) decoder.fail();
  }
  RETURN_IF_ERROR(decoder.finish(what));
  return index;
}

std::string pack_tail(std::string_view sealed_index) {
  Encoder footer;
  footer.number32(static_cast<std::uint32_t>(sealed_index.size()));
  return std::string(sealed_index) + std::move(footer).take() + std::string(kPackEnd);
}

Result<std::uint32_t> index_length(std::string_view footer) {
  if (footer.size() != kPackFooterSize || !footer.ends_with(kPackEnd)) {
    return Error(ErrorCode::kDataLoss, "the pack does not end as packs do");
  }
  return Decoder(footer).number32();
}

Result<std::string> compress(std::string_view plaintext, int level) {
  return compress_behind(0, plaintext, level);
}

Result<std::string> decompress(std::string_view compressed, std::size_t limit) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> kContext(ZSTD_createDCtx());
  const unsigned long long announced = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (announced == ZSTD_CONTENTSIZE_ERROR || announced == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Error(ErrorCode::kDataLoss, "compressed data has no frame of known length");
  }
  if (announced > limit) {
    return Error(ErrorCode::kResourceExhausted, "compressed data announces " + std::to_string(announced) +
                                                    " bytes, more than " + std::to_string(limit));
  }
  std::size_t size = 0;
  std::string out = filled_string(announced, [&](char* place) {
    size = ZSTD_decompressDCtx(kContext.get(), place, announced, compressed.data(), compressed.size());
    return ZSTD_isError(size) != 0 ? 0 : size;
  });
  if (ZSTD_isError(size) != 0 || size != announced) {
    return Error(ErrorCode::kDataLoss, "compressed data is damaged");
  }
  return out;
}

Result<std::string> seal_segment(std::string_view plaintext, const crypto::SecretKey& content_key, int level) {
  ASSIGN_OR_RETURN(std::string piece, compress_behind(crypto::kSealHead, plaintext, level));
  crypto::seal_in_place(piece, content_key, kSegmentContext);
  return piece;
}

Result<std::string> open_segment(std::string_view sealed, const crypto::SecretKey& content_key, std::uint32_t plain) {
  ASSIGN_OR_RETURN(const std::string compressed, crypto::open(content_key, sealed, kSegmentContext));
  ASSIGN_OR_RETURN(std::string plaintext, decompress(compressed, plain));
  if (plaintext.size() != plain) return Error(ErrorCode::kDataLoss, "a segment has another length than its index says");
  return plaintext;
}

}  // namespace cofferdam::snapshot
