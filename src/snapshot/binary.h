// The byte layout that manifests and indexes share: little-endian numbers, texts with their length before them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"

namespace cofferdam::snapshot {

class Encoder {
 public:
  void number8(std::uint8_t value) { out_ += static_cast<char>(value); }
  void number32(std::uint32_t value) { number(value, 4); }
  void number64(std::uint64_t value) { number(value, 8); }
  void text(std::string_view value) {
    number32(static_cast<std::uint32_t>(value.size()));
    out_ += value;
  }
  void digest(const Digest& value) { out_ += value.view(); }

  std::string take() && { return std::move(out_); }

 private:
  void number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  std::string out_;
};

// Reads what Encoder wrote. Nothing is trusted: the first read beyond the end makes the decoder fail, after which every
// read gives zero; the caller checks once, with finish().
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t number8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t number64() { return number(8); }
  std::string_view text() { return take(number32()); }
  Digest digest() { return Digest::from_bytes(take(Digest::kSize)).value_or(Digest{}); }
  // A count of things that each take at least `smallest` bytes: a count that cannot be true fails at once, before
  // anybody reserves memory for it.
  std::uint32_t count(std::size_t smallest) {
    const std::uint32_t value = number32();
    if (std::uint64_t{value} * smallest > rest_.size()) fail();
    return failed_ ? 0 : value;
  }

  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool failed() const { return failed_; }

  // kDataLoss when something was missing or left over.
  Status finish(std::string_view what) const {
    if (!failed_ && rest_.empty()) return {};
    return Error(ErrorCode::kDataLoss,
                 std::string(what) + (failed_ ? " is cut short or malformed" : " has bytes after its end"));
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  std::uint64_t number(unsigned bytes) {
    const std::string_view piece = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = piece.size(); i > 0; --i) value = value << 8 | static_cast<std::uint8_t>(piece[i - 1]);
    return value;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace cofferdam::snapshot
