// Removal: rows say that something is going before its object goes, and are forgotten after it.
#include "store/sql_catalog.h"
#include "store/sql_rows.h"

namespace cofferdam::store {
namespace {

Result<std::optional<SnapshotState>> state_of(Transaction& transaction, const std::string& snapshot) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.run("SELECT state FROM store_snapshots WHERE id = $1", {snapshot}));
  if (rows.empty()) return std::optional<SnapshotState>();
  return parse_snapshot_state(rows.front().text(0));
}

Status condemn_unused(Transaction& transaction, const std::string& company) {
  RETURN_IF_ERROR(
      transaction.run("UPDATE store_packs SET state = 'deleting' WHERE company = $1 AND state = 'live' "
                      "AND NOT EXISTS (SELECT 1 FROM store_snapshot_packs sp "
                      "JOIN store_snapshots s ON s.id = sp.snapshot WHERE sp.pack = store_packs.id "
                      "AND s.state IN ('writing', 'sealed', 'committed'))",
                      {company}));
  return {};
}

}  // namespace

Status SqlCatalog::delete_snapshot(const std::string& id) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::optional<SnapshotState> state, state_of(transaction, id));
    if (state == SnapshotState::kDeleting) return {};
    if (state != SnapshotState::kCommitted) return Error(ErrorCode::kNotFound, "no committed snapshot " + id);
    RETURN_IF_ERROR(transaction.run("UPDATE store_snapshots SET state = 'deleting' WHERE id = $1", {id}));
    return {};
  });
}

Result<std::size_t> SqlCatalog::abandon_expired(std::int64_t now_ms, std::int64_t grace_ms) {
  std::size_t count = 0;
  RETURN_IF_ERROR(write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.run("UPDATE store_snapshots SET state = 'abandoned' "
                                     "WHERE state IN ('writing', 'sealed') AND lease_expires_ms < $1 RETURNING id",
                                     {now_ms - grace_ms}));
    count = rows.size();
    return {};
  }));
  return count;
}

Result<std::vector<SnapshotRecord>> SqlCatalog::removable_snapshots() {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query(std::string("SELECT ") + kSnapshotColumns +
                         " FROM store_snapshots WHERE state IN ('abandoned', 'deleting') ORDER BY created_ms, id"));
  return records(rows, snapshot_record);
}

Status SqlCatalog::forget_snapshot(const std::string& id) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::optional<SnapshotState> state, state_of(transaction, id));
    if (!state) return {};
    if (*state != SnapshotState::kAbandoned && *state != SnapshotState::kDeleting) {
      return Error(ErrorCode::kFailedPrecondition, "the snapshot " + id + " is " + to_string(*state));
    }
    RETURN_IF_ERROR(transaction.run("DELETE FROM store_snapshot_packs WHERE snapshot = $1", {id}));
    RETURN_IF_ERROR(transaction.run("DELETE FROM store_snapshots WHERE id = $1", {id}));
    return {};
  });
}

Result<std::vector<PackRecord>> SqlCatalog::condemn_unused_packs(const std::string& company) {
  std::vector<PackRecord> condemned;
  RETURN_IF_ERROR(write([&](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(condemn_unused(transaction, company));
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.run(std::string("SELECT ") + kPackColumns +
                                         " FROM store_packs WHERE company = $1 AND state = 'deleting' "
                                         "ORDER BY created_ms, id",
                                     {company}));
    condemned = records(rows, pack_record);
    return {};
  }));
  return condemned;
}

Status SqlCatalog::forget_pack(const std::string& id) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT state FROM store_packs WHERE id = $1", {id}));
    if (rows.empty()) return {};
    if (rows.front().text(0) != "deleting") {
      return Error(ErrorCode::kFailedPrecondition, "the pack " + id + " is not being deleted");
    }
    // Only snapshots that are going themselves still name it.
    RETURN_IF_ERROR(transaction.run("DELETE FROM store_snapshot_packs WHERE pack = $1", {id}));
    RETURN_IF_ERROR(transaction.run("DELETE FROM store_packs WHERE id = $1", {id}));
    return {};
  });
}

}  // namespace cofferdam::store
