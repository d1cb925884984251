// The names in a Git index file, read as data: for deciding what is tracked where git may not be started yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/refs.h"

namespace cofferdam::git {

inline constexpr std::uint32_t kGitlinkBits = 0160000;  // the mode of a commit of another repository

struct IndexName {
  std::string path;
  std::uint32_t mode = 0;
  bool operator==(const IndexName&) const = default;
};

struct IndexBounds {
  std::size_t entries = 1'000'000;
  std::size_t path_bytes = 4'095;
};

// Versions 2 to 4, in the order of the file. kDataLoss for what git would call corrupt, kResourceExhausted beyond a
// bound, kUnsupported for an index that leans on another file (split index).
Result<std::vector<IndexName>> parse_index(std::string_view bytes, ObjectFormat format, const IndexBounds& bounds = {});

}  // namespace cofferdam::git
