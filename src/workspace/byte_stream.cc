#include "workspace/byte_stream.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "system/file.h"

namespace cofferdam::workspace {
namespace {

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
constexpr int kLargestWindow = 27;  // 2^27 bytes

Error zstd_error(std::size_t code, const char* what) {
  return Error(ErrorCode::kDataLoss, std::string(what) + ": " + ZSTD_getErrorName(code));
}

}  // namespace

ByteSource source_of(int fd) {
  return [fd](char* buffer, std::size_t size) -> Result<std::size_t> {
    while (true) {
      const ssize_t count = ::read(fd, buffer, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return Error::from_errno(errno, "read the archive");
    }
  };
}

ByteSource source_of(std::string_view bytes) {
  return [rest = bytes](char* buffer, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t count = rest.copy(buffer, std::min(size, rest.size()));
    rest.remove_prefix(count);
    return count;
  };
}

ByteSink sink_to(int fd) {
  return [fd](std::string_view bytes) { return system::write_all(fd, bytes, "the archive"); };
}

struct Decompressor::State {
  ByteSource source;
  std::string input = std::string(ZSTD_DStreamInSize(), '\0');
  std::size_t begin = 0;  // of what is left in `input`
  std::size_t end = 0;
  std::uint64_t taken = 0;
  bool looked = false;
  bool frame_ended = false;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{nullptr, &ZSTD_freeDCtx};

  Result<std::size_t> take(std::size_t room) {
    ASSIGN_OR_RETURN(const std::size_t count, source(input.data() + end, std::min(room, input.size() - end)));
    end += count;
    taken += count;
    return count;
  }

  Status refill() {
    begin = end = 0;
    ASSIGN_OR_RETURN(const std::size_t count, take(input.size()));
    (void)count;
    return {};
  }

  // Reads as many bytes as the magic has and decides by them.
  Status look() {
    looked = true;
    while (end < kMagic.size()) {
      ASSIGN_OR_RETURN(const std::size_t count, take(kMagic.size() - end));
      if (count == 0) return {};
    }
    if (std::string_view(input.data(), end) != kMagic) return {};
    context.reset(ZSTD_createDCtx());
    const std::size_t code = ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kLargestWindow);
    return ZSTD_isError(code) != 0 ? zstd_error(code, "prepare to decompress") : Status();
  }

  Result<std::size_t> read_plain(char* buffer, std::size_t size) {
    if (begin == end) RETURN_IF_ERROR(refill());
    const std::size_t count = std::min(size, end - begin);
    std::memcpy(buffer, input.data() + begin, count);
    begin += count;
    return count;
  }

  Result<std::size_t> read_compressed(char* buffer, std::size_t size) {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      if (begin == end) RETURN_IF_ERROR(refill());
      if (begin == end) {
        if (frame_ended) return std::size_t{0};
        return Error(ErrorCode::kDataLoss, "the compressed archive is cut off");
      }
      if (frame_ended) return Error(ErrorCode::kDataLoss, "something follows the compressed archive");
      ZSTD_inBuffer in{input.data() + begin, end - begin, 0};
      const std::size_t code = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(code) != 0) return zstd_error(code, "the compressed archive is damaged");
      begin += in.pos;
      frame_ended = code == 0;
    }
    return out.pos;
  }
};

Decompressor::Decompressor(ByteSource source) : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
}

Decompressor::~Decompressor() = default;

Result<std::size_t> Decompressor::read(char* buffer, std::size_t size) {
  if (!state_->looked) RETURN_IF_ERROR(state_->look());
  return is_compressed() ? state_->read_compressed(buffer, size) : state_->read_plain(buffer, size);
}

bool Decompressor::is_compressed() const {
  return state_->context != nullptr;
}

std::uint64_t Decompressor::bytes_taken() const {
  return state_->taken;
}

struct Compressor::State {
  ByteSink sink;
  std::string output = std::string(ZSTD_CStreamOutSize(), '\0');
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

Compressor::Compressor(ByteSink sink, int level) : state_(std::make_unique<State>()) {
  state_->sink = std::move(sink);
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_checksumFlag, 1);
}

Compressor::~Compressor() = default;

Status Compressor::step(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (true) {
    ZSTD_outBuffer out{state_->output.data(), state_->output.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(state_->context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) return zstd_error(left, "compress the archive");
    if (out.pos > 0) RETURN_IF_ERROR(state_->sink({state_->output.data(), out.pos}));
    if (last ? left == 0 : in.pos == in.size) return {};
  }
}

Status Compressor::write(std::string_view bytes) {
  return step(bytes, false);
}

Status Compressor::finish() {
  return step({}, true);
}

}  // namespace cofferdam::workspace
