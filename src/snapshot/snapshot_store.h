// The store of snapshots: its objects, its catalog and the keys to them, joined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "snapshot/key_ring.h"
#include "snapshot/manifest.h"
#include "store/catalog.h"
#include "store/object_store.h"

namespace cofferdam::snapshot {

// Thread-safe. Owns all three; whoever uses it must not outlive it.
class SnapshotStore {
 public:
  SnapshotStore(std::unique_ptr<store::ObjectStore> objects, std::unique_ptr<store::Catalog> catalog,
                MasterKeys masters)
      : objects_(std::move(objects)), catalog_(std::move(catalog)), masters_(std::move(masters)) {}

  store::ObjectStore& objects() const { return *objects_; }
  store::Catalog& catalog() const { return *catalog_; }
  const MasterKeys& masters() const { return masters_; }

  Result<KeyRing> keys_of(const std::string& company) const;

  // A committed snapshot of `company` by its id or an unambiguous beginning of it, with or without "snap-"; or
  // "latest" (the newest of all). kNotFound, or kInvalidArgument when several begin so.
  Result<store::SnapshotRecord> find(const std::string& company, const std::string& name) const;

  // Opens the manifest of a committed snapshot: digest of the object, tag, order, fingerprint.
  Result<Manifest> manifest_of(const store::SnapshotRecord& record, const KeyRing& keys) const;

 private:
  std::unique_ptr<store::ObjectStore> objects_;
  std::unique_ptr<store::Catalog> catalog_;
  MasterKeys masters_;
};

// 1 to 64 of a-z, 0-9, '-' and '_': it is part of the names of objects.
Status check_company(const std::string& company);

}  // namespace cofferdam::snapshot
