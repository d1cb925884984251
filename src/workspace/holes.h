// Writing a file whose zeros take no room.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace cofferdam::workspace {

// Writes `bytes` at the position of `file`, or moves the position when they are all zeros.
Status write_with_holes(int file, std::string_view bytes);

// Gives the file its size after the last piece, which may have been a hole.
Status end_with_holes(int file, std::uint64_t size);

}  // namespace cofferdam::workspace
