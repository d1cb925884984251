#include "control/sync_plan.h"

#include <algorithm>
#include <utility>

#include "workspace/inventory.h"

namespace cofferdam::control {
namespace {

using workspace::Entry;
using workspace::Inventory;

constexpr const char* kGitDirectory = ".git";

Result<Inventory> inventory_of(const std::string& directory) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(directory));
  workspace::InventoryOptions options;
  options.walk.exclude.add(kGitDirectory);
  return in_context(workspace::take_inventory(root.get(), options), directory);
}

Result<std::vector<Entry>> base_of(const SyncPlanRequest& request, Snapshots& snapshots) {
  if (!request.base_is_snapshot) {
    ASSIGN_OR_RETURN(Inventory inventory, inventory_of(request.base));
    return std::move(inventory.entries);
  }
  ASSIGN_OR_RETURN(const snapshot::Manifest manifest, snapshots.manifest(request.company, request.base));
  const workspace::PathSet git({kGitDirectory});
  std::vector<Entry> entries;
  for (const snapshot::SavedEntry& saved : manifest.entries) {
    if (!git.covers(saved.entry.path)) entries.push_back(saved.entry);
  }
  return entries;
}

}  // namespace

Result<workspace::MergePlan> plan_sync(const SyncPlanRequest& request, Snapshots& snapshots) {
  ASSIGN_OR_RETURN(const std::vector<Entry> base, base_of(request, snapshots));
  ASSIGN_OR_RETURN(const Inventory theirs, inventory_of(request.from));
  ASSIGN_OR_RETURN(const Inventory ours, inventory_of(request.into));
  workspace::MergeOptions options{.prefer = request.prefer, .run_id = "plan", .excluded = {}, .is_tracked = {}};
  options.excluded.add(kGitDirectory);
  return workspace::plan_merge(base, theirs, ours, options);
}

}  // namespace cofferdam::control
