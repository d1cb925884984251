#include "store/records.h"

#include <array>
#include <utility>

namespace cofferdam::store {
namespace {

constexpr std::array<std::pair<SnapshotState, const char*>, 5> kSnapshotStates = {
    {{SnapshotState::kWriting, "writing"},
     {SnapshotState::kSealed, "sealed"},
     {SnapshotState::kCommitted, "committed"},
     {SnapshotState::kAbandoned, "abandoned"},
     {SnapshotState::kDeleting, "deleting"}}};

}  // namespace

const char* to_string(SnapshotState state) {
  for (const auto& [known, name] : kSnapshotStates) {
    if (known == state) return name;
  }
  return "";
}

std::optional<SnapshotState> parse_snapshot_state(std::string_view name) {
  for (const auto& [state, known] : kSnapshotStates) {
    if (known == name) return state;
  }
  return std::nullopt;
}

}  // namespace cofferdam::store
