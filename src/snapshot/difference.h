// What differs between two trees, entry by entry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workspace/entry.h"

namespace cofferdam::snapshot {

enum class ChangeKind : std::uint8_t { kAdded, kRemoved, kContent, kMode, kKind };
const char* to_string(ChangeKind kind);

struct Change {
  std::string path;
  ChangeKind kind;
};

// Sorted by path. Times do not count.
std::vector<Change> difference(const std::vector<workspace::Entry>& before, const std::vector<workspace::Entry>& after);

}  // namespace cofferdam::snapshot
