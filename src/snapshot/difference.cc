#include "snapshot/difference.h"

#include <optional>

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;

std::optional<ChangeKind> change_between(const Entry& before, const Entry& after) {
  if (before.kind != after.kind) return ChangeKind::kKind;
  if (before.size != after.size || before.digest != after.digest || before.target != after.target) {
    return ChangeKind::kContent;
  }
  if (before.mode != after.mode) return ChangeKind::kMode;
  return std::nullopt;
}

}  // namespace

const char* to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kRemoved:
      return "removed";
    case ChangeKind::kContent:
      return "content";
    case ChangeKind::kMode:
      return "mode";
    case ChangeKind::kKind:
      return "kind";
  }
  return "unknown";
}

std::vector<Change> difference(const std::vector<Entry>& before, const std::vector<Entry>& after) {
  std::vector<Change> changes;
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->path < now->path)) {
      changes.push_back({(old++)->path, ChangeKind::kRemoved});
    } else if (old == before.end() || now->path < old->path) {
      changes.push_back({(now++)->path, ChangeKind::kAdded});
    } else {
      if (const auto kind = change_between(*old, *now)) changes.push_back({now->path, *kind});
      ++old;
      ++now;
    }
  }
  return changes;
}

}  // namespace cofferdam::snapshot
