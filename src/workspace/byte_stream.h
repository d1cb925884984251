// Streams of bytes as functions, and zstd between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace cofferdam::workspace {

// Up to `size` (at least 1) bytes into `buffer`; 0 at the end.
using ByteSource = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;
ByteSource source_of(int fd);
ByteSource source_of(std::string_view bytes);  // must outlive the source

using ByteSink = std::function<Status(std::string_view bytes)>;
ByteSink sink_to(int fd);

// Hands on what it reads, decompressed when the first bytes are zstd's. A frame that needs more than 128 MiB of memory
// is refused; bytes after the frame are kDataLoss. Not thread-safe.
class Decompressor {
 public:
  explicit Decompressor(ByteSource source);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  Result<std::size_t> read(char* buffer, std::size_t size);
  bool is_compressed() const;
  std::uint64_t bytes_taken() const;  // from the source

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compresses into one frame with a checksum. `level` as zstd's. Not thread-safe.
class Compressor {
 public:
  Compressor(ByteSink sink, int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  Status write(std::string_view bytes);
  Status finish();

 private:
  Status step(std::string_view bytes, bool last);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cofferdam::workspace
