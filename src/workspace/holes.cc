#include "workspace/holes.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "system/file.h"

namespace cofferdam::workspace {
namespace {

constexpr std::size_t kWorthAHole = 4096;

bool is_hole(std::string_view bytes) {
  return bytes.size() >= kWorthAHole && std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
}

}  // namespace

Status write_with_holes(int file, std::string_view bytes) {
  if (!is_hole(bytes)) return system::write_all(file, bytes, "a file");
  if (::lseek(file, static_cast<off_t>(bytes.size()), SEEK_CUR) < 0) return Error::from_errno(errno, "extend a file");
  return {};
}

Status end_with_holes(int file, std::uint64_t size) {
  if (::ftruncate(file, static_cast<off_t>(size)) == 0) return {};
  return Error::from_errno(errno, "extend a file");
}

}  // namespace cofferdam::workspace
