// The tar format as pure functions: ustar with pax extensions written, ustar, GNU long names and pax read. Names are
// bytes and stay the bytes they are (docs/decisions/0007-our-own-tar-headers.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workspace/entry.h"

namespace cofferdam::workspace {

inline constexpr std::size_t kTarBlock = 512;
// What ends an archive, and all there is of an empty one.
inline constexpr std::size_t kTarEnd = 2 * kTarBlock;

// Bytes of zeros between a member's content and the next header.
inline constexpr std::size_t tar_padding(std::uint64_t size) {
  return (kTarBlock - size % kTarBlock) % kTarBlock;
}

// Everything that stands before the content of `entry`: one block, or three and more when its name, target, size or
// time do not fit into one. Owner 0, no owner's name, time in whole seconds.
std::string tar_header(const Entry& entry);

// One block of header, decoded; nothing about it has been judged but its checksum and its numbers.
struct TarBlock {
  char type = '0';
  std::string name;
  std::string link;
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime = 0;  // seconds
};

// Nothing for a block of zeros. kDataLoss for a wrong checksum, a number that is none, a negative size.
Result<std::optional<TarBlock>> decode_tar_block(std::string_view block);

// The records of a pax header. kDataLoss for a bad length, a missing "=" or a key that occurs twice.
using PaxRecords = std::map<std::string, std::string, std::less<>>;
Result<PaxRecords> decode_pax_records(std::string_view text);

}  // namespace cofferdam::workspace
