// The store's database: which snapshots, packs and keys exist, and who is writing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/records.h"

namespace cofferdam::store {

struct SnapshotQuery {
  std::string company;
  std::string workspace;  // empty: every one
  bool only_committed = true;
  std::size_t limit = 0;  // 0: all; else the newest ones
};

// Thread-safe; calls block. Every method is one transaction: it happened wholly or not at all. kUnavailable when the
// database cannot be reached (the outcome of a write is then unknown, and repeating it is safe); kFailedPrecondition
// from a writer whose lease is no longer the newest or no longer in the state the call needs ("writer_conflict").
class Catalog {
 public:
  virtual ~Catalog() = default;

  // --- keys
  virtual Result<std::vector<CompanyKeyRecord>> company_keys(const std::string& company) = 0;
  virtual Result<std::vector<std::string>> companies() = 0;
  // Adds a key and makes it the current one. kAlreadyExists when another process was first: `expected_current` is the
  // id of the key that the caller saw as current (empty: none).
  virtual Status add_company_key(const CompanyKeyRecord& key, const std::string& expected_current) = 0;
  // Replaces how keys are wrapped (a rotation of the master key), all or none.
  virtual Status rewrap_company_keys(const std::vector<CompanyKeyRecord>& keys) = 0;
  // Forgets the key material of a company, in the database's files too where it lets us.
  virtual Status erase_company(const std::string& company) = 0;

  // --- a snapshot being written
  // Inserts `record` in state writing with a new generation. `lease_ms`: how long until others may call it abandoned.
  // The same `writer` may begin a snapshot again while it is in that state: its former lease then writes nothing any
  // more. kAlreadyExists for anybody else.
  virtual Result<WriterLease> begin_snapshot(const SnapshotRecord& record, std::int64_t now_ms,
                                             std::int64_t lease_ms) = 0;
  virtual Status renew(const WriterLease& lease, std::int64_t now_ms, std::int64_t lease_ms) = 0;
  // Registers a pack whose object is durable, as used by the snapshot that is being written. kAlreadyExists when its
  // id belongs to another content.
  virtual Status add_pack(const WriterLease& lease, const PackRecord& pack) = 0;
  // Pins packs that exist already, which the snapshot uses too, all or none. kFailedPrecondition when one of them is
  // being deleted, gone, or another company's.
  virtual Status use_packs(const WriterLease& lease, const std::vector<std::string>& packs) = 0;
  // writing → sealed.
  virtual Status seal(const WriterLease& lease, const std::string& manifest_object, std::uint64_t manifest_size,
                      const std::string& manifest_digest, const std::string& summary) = 0;
  // sealed → committed and the writer cleared, in one transaction.
  virtual Status commit(const WriterLease& lease, std::int64_t now_ms) = 0;
  // Gives a snapshot up: writing or sealed → abandoned.
  virtual Status abandon(const WriterLease& lease) = 0;

  // --- reading
  virtual Result<std::optional<SnapshotRecord>> snapshot(const std::string& id) = 0;
  // Newest first.
  virtual Result<std::vector<SnapshotRecord>> snapshots(const SnapshotQuery& query) = 0;
  // Ids of snapshots that begin with `prefix`, at most `limit` (0: all), in their order; none that is abandoned or
  // being deleted.
  virtual Result<std::vector<std::string>> snapshots_like(const std::string& company, const std::string& prefix,
                                                          std::size_t limit) = 0;
  // Packs of a company that are live, oldest first.
  virtual Result<std::vector<PackRecord>> packs(const std::string& company) = 0;
  virtual Result<std::vector<std::string>> packs_of(const std::string& snapshot) = 0;

  // --- removal
  // committed → deleting. kNotFound when there is none; success when it is deleting already.
  virtual Status delete_snapshot(const std::string& id) = 0;
  // Marks writers whose lease ran out before `now_ms - grace_ms` as abandoned and returns how many.
  virtual Result<std::size_t> abandon_expired(std::int64_t now_ms, std::int64_t grace_ms) = 0;
  // Snapshots in state abandoned or deleting: their manifests may be removed, then forget_snapshot.
  virtual Result<std::vector<SnapshotRecord>> removable_snapshots() = 0;
  virtual Status forget_snapshot(const std::string& id) = 0;
  // Marks live packs of the company that no snapshot in state writing, sealed or committed uses, as deleting, and
  // returns every pack in that state: their objects may be removed, then forget_pack.
  virtual Result<std::vector<PackRecord>> condemn_unused_packs(const std::string& company) = 0;
  virtual Status forget_pack(const std::string& id) = 0;

  // Checks the database itself (integrity_check on SQLite); kDataLoss with what it said.
  virtual Status check() = 0;
  virtual std::string description() const = 0;
};

// "sqlite:PATH", a plain path (made when missing, mode 0600) or "postgresql://…". Migrates the schema forward; a schema
// newer than this program is kFailedPrecondition.
Result<std::unique_ptr<Catalog>> open_catalog(const std::string& url);

}  // namespace cofferdam::store
