// The catalog in SQL, the same for every database. Its methods are grouped by subject into sql_catalog_*.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/catalog.h"
#include "store/database.h"

namespace cofferdam::store {

// Holds its database; as thread-safe as that is. Writers are fenced: each of their statements names the generation and
// the state that it needs, and does nothing when either has changed.
class SqlCatalog final : public Catalog {
 public:
  explicit SqlCatalog(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Result<std::vector<CompanyKeyRecord>> company_keys(const std::string& company) override;
  Result<std::vector<std::string>> companies() override;
  Status add_company_key(const CompanyKeyRecord& key, const std::string& expected_current) override;
  Status rewrap_company_keys(const std::vector<CompanyKeyRecord>& keys) override;
  Status erase_company(const std::string& company) override;

  Result<WriterLease> begin_snapshot(const SnapshotRecord& record, std::int64_t now_ms, std::int64_t lease_ms) override;
  Status renew(const WriterLease& lease, std::int64_t now_ms, std::int64_t lease_ms) override;
  Status add_pack(const WriterLease& lease, const PackRecord& pack) override;
  Status use_packs(const WriterLease& lease, const std::vector<std::string>& packs) override;
  Status seal(const WriterLease& lease, const std::string& manifest_object, std::uint64_t manifest_size,
              const std::string& manifest_digest, const std::string& summary) override;
  Status commit(const WriterLease& lease, std::int64_t now_ms) override;
  Status abandon(const WriterLease& lease) override;

  Result<std::optional<SnapshotRecord>> snapshot(const std::string& id) override;
  Result<std::vector<SnapshotRecord>> snapshots(const SnapshotQuery& query) override;
  Result<std::vector<std::string>> snapshots_like(const std::string& company, const std::string& prefix,
                                                  std::size_t limit) override;
  Result<std::vector<PackRecord>> packs(const std::string& company) override;
  Result<std::vector<std::string>> packs_of(const std::string& snapshot) override;

  Status delete_snapshot(const std::string& id) override;
  Result<std::size_t> abandon_expired(std::int64_t now_ms, std::int64_t grace_ms) override;
  Result<std::vector<SnapshotRecord>> removable_snapshots() override;
  Status forget_snapshot(const std::string& id) override;
  Result<std::vector<PackRecord>> condemn_unused_packs(const std::string& company) override;
  Status forget_pack(const std::string& id) override;

  Status check() override;
  std::string description() const override { return database_->description(); }

 private:
  Status write(const std::function<Status(Transaction&)>& body) { return database_->transact(Access::kWrite, body); }
  // One query in a transaction of its own.
  Result<std::vector<Row>> query(const std::string& sql, const std::vector<SqlValue>& parameters = {});

  std::unique_ptr<Database> database_;
};

}  // namespace cofferdam::store
