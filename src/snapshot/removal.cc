#include "snapshot/removal.h"

#include <map>
#include <set>
#include <utility>

namespace cofferdam::snapshot {
namespace {

using store::ObjectInfo;
using store::PackRecord;
using store::SnapshotRecord;

constexpr std::size_t kPage = 1000;
constexpr std::int64_t kMsPerSecond = 1000;

Status forget_removable(const SnapshotStore& store, const std::string& company, CollectReport& report) {
  ASSIGN_OR_RETURN(const std::vector<SnapshotRecord> removable, store.catalog().removable_snapshots());
  for (const SnapshotRecord& record : removable) {
    if (record.company != company) continue;
    if (!record.manifest_object.empty()) RETURN_IF_ERROR(store.objects().remove(record.manifest_object));
    RETURN_IF_ERROR(store.catalog().forget_snapshot(record.id));
    report.bytes += record.manifest_size;
    ++report.snapshots;
  }
  return {};
}

Status remove_unused_packs(const SnapshotStore& store, const std::string& company, CollectReport& report) {
  ASSIGN_OR_RETURN(const std::vector<PackRecord> condemned, store.catalog().condemn_unused_packs(company));
  for (const PackRecord& pack : condemned) {
    RETURN_IF_ERROR(store.objects().remove(pack.object));
    RETURN_IF_ERROR(store.catalog().forget_pack(pack.id));
    report.bytes += pack.size;
    ++report.packs;
  }
  return {};
}

// Objects that some row names. Listed after the objects, so that what was named meanwhile is known too.
Result<std::set<std::string>> named_objects(const SnapshotStore& store, const std::string& company) {
  std::set<std::string> named;
  ASSIGN_OR_RETURN(const auto packs, store.catalog().packs(company));
  for (const PackRecord& pack : packs) named.insert(pack.object);
  ASSIGN_OR_RETURN(const auto snapshots,
                   store.catalog().snapshots({.company = company, .workspace = {}, .only_committed = false}));
  for (const SnapshotRecord& record : snapshots) named.insert(record.manifest_object);
  return named;
}

Status remove_unknown_objects(const SnapshotStore& store, const std::string& company, std::int64_t now_ms,
                              CollectReport& report) {
  std::vector<ObjectInfo> old;
  for (std::string after;;) {
    ASSIGN_OR_RETURN(const std::vector<ObjectInfo> page, store.objects().list(company + "/", after, kPage));
    for (const ObjectInfo& object : page) {
      if (object.modified_s * kMsPerSecond < now_ms - kUnknownObjectGraceMs) old.push_back(object);
    }
    if (page.size() < kPage) break;
    after = page.back().key;
  }
  if (old.empty()) return {};
  ASSIGN_OR_RETURN(const std::set<std::string> named, named_objects(store, company));
  for (const ObjectInfo& object : old) {
    if (named.contains(object.key)) continue;
    RETURN_IF_ERROR(store.objects().remove(object.key));
    report.bytes += object.size;
    ++report.unknown;
  }
  return {};
}

}  // namespace

Result<CollectReport> collect(const SnapshotStore& store, const std::string& company, std::int64_t now_ms) {
  CollectReport report;
  ASSIGN_OR_RETURN(report.abandoned, store.catalog().abandon_expired(now_ms, kAbandonedGraceMs));
  RETURN_IF_ERROR(forget_removable(store, company, report));
  RETURN_IF_ERROR(remove_unused_packs(store, company, report));
  RETURN_IF_ERROR(remove_unknown_objects(store, company, now_ms, report));
  return report;
}

Result<RetentionPlan> plan_retention(const SnapshotStore& store, const std::string& company,
                                     const std::string& workspace, const RetentionPolicy& policy) {
  ASSIGN_OR_RETURN(std::vector<SnapshotRecord> all,
                   store.catalog().snapshots({.company = company, .workspace = workspace}));
  std::map<std::string, std::vector<SnapshotRecord>> by_workspace;
  for (SnapshotRecord& record : all) {
    const std::string key = record.workspace;
    by_workspace[key].push_back(std::move(record));
  }
  RetentionPlan plan;
  for (auto& [name, records] : by_workspace) {
    std::vector<std::int64_t> times;
    for (const SnapshotRecord& record : records) times.push_back(record.created_ms);
    const std::vector<bool> kept = kept_by(policy, times);
    for (std::size_t i = 0; i < records.size(); ++i) {
      (kept[i] ? plan.kept : plan.removed).push_back(std::move(records[i]));
    }
  }
  return plan;
}

}  // namespace cofferdam::snapshot
