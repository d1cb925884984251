// Looking things up.
#include <limits>

#include "store/sql_catalog.h"
#include "store/sql_rows.h"

namespace cofferdam::store {
namespace {

std::int64_t limit_of(std::size_t limit) {
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  return limit == 0 || limit > static_cast<std::size_t>(kAll) ? kAll : static_cast<std::int64_t>(limit);
}

}  // namespace

Result<std::vector<Row>> SqlCatalog::query(const std::string& sql, const std::vector<SqlValue>& parameters) {
  std::vector<Row> rows;
  RETURN_IF_ERROR(database_->transact(Access::kRead, [&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(rows, transaction.run(sql, parameters));
    return {};
  }));
  return rows;
}

Result<std::optional<SnapshotRecord>> SqlCatalog::snapshot(const std::string& id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query(std::string("SELECT ") + kSnapshotColumns + " FROM store_snapshots WHERE id = $1", {id}));
  if (rows.empty()) return std::optional<SnapshotRecord>();
  return std::optional(snapshot_record(rows.front()));
}

Result<std::vector<SnapshotRecord>> SqlCatalog::snapshots(const SnapshotQuery& wanted) {
  std::string sql = std::string("SELECT ") + kSnapshotColumns + " FROM store_snapshots WHERE company = $1";
  std::vector<SqlValue> parameters = {wanted.company, limit_of(wanted.limit)};
  if (wanted.only_committed) sql += " AND state = 'committed'";
  if (!wanted.workspace.empty()) {
    sql += " AND workspace = $3";
    parameters.emplace_back(Bytes{wanted.workspace});
  }
  ASSIGN_OR_RETURN(const std::vector<Row> rows, query(sql + " ORDER BY created_ms DESC, id DESC LIMIT $2", parameters));
  return records(rows, snapshot_record);
}

Result<std::vector<std::string>> SqlCatalog::snapshots_like(const std::string& company, const std::string& prefix,
                                                            std::size_t limit) {
  // No LIKE: its wild cards and its case differ between databases.
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query("SELECT id FROM store_snapshots WHERE company = $1 AND substr(id, 1, length($2)) = $2 "
                         "AND state IN ('writing', 'sealed', 'committed') ORDER BY id LIMIT $3",
                         {company, prefix, limit_of(limit)}));
  return records(rows, first_text);
}

Result<std::vector<PackRecord>> SqlCatalog::packs(const std::string& company) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query(std::string("SELECT ") + kPackColumns +
                             " FROM store_packs WHERE company = $1 AND state = 'live' ORDER BY created_ms, id",
                         {company}));
  return records(rows, pack_record);
}

Result<std::vector<std::string>> SqlCatalog::packs_of(const std::string& snapshot) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query("SELECT pack FROM store_snapshot_packs WHERE snapshot = $1 ORDER BY pack", {snapshot}));
  return records(rows, first_text);
}

// Beside what the database says of itself: no snapshot that is or may become committed may use a pack that is going.
Status SqlCatalog::check() {
  RETURN_IF_ERROR(database_->check());
  ASSIGN_OR_RETURN(const std::vector<Row> broken,
                   query("SELECT s.id FROM store_snapshots s JOIN store_snapshot_packs sp ON sp.snapshot = s.id "
                         "JOIN store_packs p ON p.id = sp.pack "
                         "WHERE s.state IN ('writing', 'sealed', 'committed') AND p.state <> 'live' LIMIT 1"));
  if (broken.empty()) return {};
  return Error(ErrorCode::kDataLoss,
               description() + ": snapshot " + broken.front().text(0) + " uses a pack that is being deleted");
}

}  // namespace cofferdam::store
