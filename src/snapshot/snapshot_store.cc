#include "snapshot/snapshot_store.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "crypto/sha256.h"
#include "snapshot/pack_writer.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kLongestCompany = 64;
constexpr std::size_t kMostCandidates = 4;
constexpr std::string_view kIdPrefix = "snap-";

Error no_snapshot(const std::string& name) {
  return Error(ErrorCode::kNotFound, "there is no snapshot " + printable(name))
      .with_hint("\"cofferdam snapshot list\" names them.");
}

Result<std::string> only_candidate(const std::vector<std::string>& candidates, const std::string& name) {
  if (candidates.empty()) return no_snapshot(name);
  if (candidates.size() == 1) return candidates.front();
  return Error(ErrorCode::kInvalidArgument,
               "several snapshots begin with " + printable(name) + ": " + join(candidates, ", "));
}

}  // namespace

Status check_company(const std::string& company) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  if (!company.empty() && company.size() <= kLongestCompany && std::ranges::all_of(company, allowed)) return {};
  return Error(ErrorCode::kInvalidArgument, "\"" + printable(company) + "\" is no name of a company")
      .with_hint("Use 1 to 64 of a-z, 0-9, '-' and '_'.");
}

Result<KeyRing> SnapshotStore::keys_of(const std::string& company) const {
  RETURN_IF_ERROR(check_company(company));
  return KeyRing::open(*catalog_, company, masters_, now_ms());
}

Result<store::SnapshotRecord> SnapshotStore::find(const std::string& company, const std::string& name) const {
  if (name == "latest") {
    ASSIGN_OR_RETURN(const auto newest, catalog_->snapshots({.company = company, .workspace = {}, .limit = 1}));
    if (newest.empty()) return no_snapshot(name);
    return newest.front();
  }
  const std::string prefix = name.starts_with(kIdPrefix) ? name : std::string(kIdPrefix) + name;
  if (prefix.size() == kIdPrefix.size()) return no_snapshot(name);
  ASSIGN_OR_RETURN(const std::vector<std::string> candidates,
                   catalog_->snapshots_like(company, prefix, kMostCandidates));
  ASSIGN_OR_RETURN(const std::string id, only_candidate(candidates, name));
  ASSIGN_OR_RETURN(const auto record, catalog_->snapshot(id));
  if (!record || record->company != company || record->state != store::SnapshotState::kCommitted) {
    return no_snapshot(name);
  }
  return *record;
}

Result<Manifest> SnapshotStore::manifest_of(const store::SnapshotRecord& record, const KeyRing& keys) const {
  const auto in_snapshot = [&](auto result) { return in_context(std::move(result), "snapshot " + record.id); };
  ASSIGN_OR_RETURN(const crypto::SecretKey key, in_snapshot(keys.unwrap_snapshot_key(record)));
  ASSIGN_OR_RETURN(const std::string sealed,
                   in_snapshot(objects_->read(record.manifest_object, 0, record.manifest_size)));
  if (crypto::sha256(sealed).view() != record.manifest_digest) {
    return Error(ErrorCode::kDataLoss,
                 "the manifest of snapshot " + record.id + " was altered (object " + record.manifest_object + ")");
  }
  return in_snapshot(open_manifest(sealed, key, record.company, record.id));
}

}  // namespace cofferdam::snapshot
