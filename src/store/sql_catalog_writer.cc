// A snapshot being written: every statement is fenced by the generation and the state it needs. Every method may be
// repeated after an outcome that nobody learned: what an earlier try has done counts as done.
#include <algorithm>
#include <set>

#include "store/sql_catalog.h"
#include "store/sql_rows.h"

namespace cofferdam::store {
namespace {

// Parameters of one statement; databases bound them at some thousands.
constexpr std::size_t kPacksAtOnce = 200;

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

Error writer_conflict(const WriterLease& lease) {
  return Error(ErrorCode::kFailedPrecondition,
               "writer_conflict: this writer of snapshot " + lease.snapshot + " is no longer the one that may write it")
      .with_hint("It was paused for longer than its lease, or another process gave it up. Save again.");
}

// The snapshot as its writer may still see it; kFailedPrecondition for any other writer.
Result<SnapshotRecord> own_snapshot(Transaction& transaction, const WriterLease& lease) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.run(std::string("SELECT ") + kSnapshotColumns +
                                       " FROM store_snapshots WHERE id = $1 AND generation = $2",
                                   {lease.snapshot, lease.generation}));
  if (rows.empty()) return writer_conflict(lease);
  return snapshot_record(rows.front());
}

Result<SnapshotRecord> own_snapshot_in(Transaction& transaction, const WriterLease& lease, SnapshotState state) {
  ASSIGN_OR_RETURN(SnapshotRecord record, own_snapshot(transaction, lease));
  if (record.state != state) return writer_conflict(lease);
  return record;
}

// --- begin

Status insert_snapshot(Transaction& transaction, const SnapshotRecord& record, std::int64_t expires_ms) {
  RETURN_IF_ERROR(transaction.run(
      std::string("INSERT INTO store_snapshots (") + kSnapshotColumns +
          ") VALUES ($1, $2, $3, $4, 'writing', $5, 0, $6, $7, '', 0, $8, $9, $10, 1, $11)",
      {record.id, record.company, Bytes{record.workspace}, Bytes{record.label}, record.created_ms, record.key_id,
       Bytes{record.wrapped_key}, Bytes{}, Bytes{record.summary}, Bytes{record.writer}, expires_ms}));
  return {};
}

// The same writer begins again: the former generation writes nothing any more.
Result<WriterLease> begin_again(Transaction& transaction, const SnapshotRecord& record, std::int64_t expires_ms) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.run("UPDATE store_snapshots SET generation = generation + 1, lease_expires_ms = $3, "
                      "key_id = $4, wrapped_key = $5 "
                      "WHERE id = $1 AND writer = $2 AND state = 'writing' RETURNING generation",
                      {record.id, Bytes{record.writer}, expires_ms, record.key_id, Bytes{record.wrapped_key}}));
  if (rows.empty()) return Error(ErrorCode::kAlreadyExists, "the snapshot " + record.id + " exists");
  return WriterLease{.snapshot = record.id, .generation = rows.front().number(0)};
}

Result<WriterLease> begin(Transaction& transaction, const SnapshotRecord& record, std::int64_t expires_ms) {
  ASSIGN_OR_RETURN(const std::vector<Row> known,
                   transaction.run("SELECT id FROM store_snapshots WHERE id = $1", {record.id}));
  if (!known.empty()) return begin_again(transaction, record, expires_ms);
  RETURN_IF_ERROR(insert_snapshot(transaction, record, expires_ms));
  return WriterLease{.snapshot = record.id, .generation = 1};
}

// --- packs

Status pin(Transaction& transaction, const std::string& snapshot, const std::string& pack) {
  RETURN_IF_ERROR(transaction.run(
      "INSERT INTO store_snapshot_packs (snapshot, pack) VALUES ($1, $2) ON CONFLICT DO NOTHING", {snapshot, pack}));
  return {};
}

Status insert_pack(Transaction& transaction, const PackRecord& pack) {
  RETURN_IF_ERROR(transaction.run(
      std::string("INSERT INTO store_packs (") + kPackColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'live')",
      {pack.id, pack.company, pack.object, number(pack.size), Bytes{pack.digest}, pack.key_id, Bytes{pack.index},
       pack.created_ms}));
  return {};
}

Status insert_unless_same(Transaction& transaction, const PackRecord& pack) {
  ASSIGN_OR_RETURN(const std::vector<Row> known,
                   transaction.run("SELECT company, object, digest, state FROM store_packs WHERE id = $1", {pack.id}));
  if (known.empty()) return insert_pack(transaction, pack);
  const Row& row = known.front();
  const bool same = row.text(0) == pack.company && row.text(1) == pack.object && row.bytes(2) == pack.digest;
  if (!same) return Error(ErrorCode::kAlreadyExists, "another pack has the name " + pack.id);
  if (row.text(3) != "live") return Error(ErrorCode::kFailedPrecondition, "the pack " + pack.id + " is being deleted");
  return {};
}

// "$3, $4, …" for `count` packs.
std::string placeholders(std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "$" : ", $") + std::to_string(i + 3);
  return list;
}

// Reads the packs' state in the transaction that pins them: a database that runs transactions as if one after the
// other lets either the pin or the condemnation of a pack happen, not both.
Status pin_live(Transaction& transaction, const SnapshotRecord& snapshot, std::span<const std::string> packs) {
  std::vector<SqlValue> parameters = {snapshot.id, snapshot.company};
  parameters.insert(parameters.end(), packs.begin(), packs.end());
  // An existing pin is "updated" so that it is counted too.
  ASSIGN_OR_RETURN(const std::vector<Row> pinned,
                   transaction.run("INSERT INTO store_snapshot_packs (snapshot, pack) SELECT $1, id FROM store_packs "
                                   "WHERE company = $2 AND state = 'live' AND id IN (" +
                                       placeholders(packs.size()) +
                                       ") ON CONFLICT (snapshot, pack) DO UPDATE SET pack = excluded.pack "
                                       "RETURNING pack",
                                   parameters));
  if (pinned.size() != packs.size()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "a pack that snapshot " + snapshot.id + " wants to use is gone or being deleted");
  }
  return {};
}

}  // namespace

Result<WriterLease> SqlCatalog::begin_snapshot(const SnapshotRecord& record, std::int64_t now_ms,
                                               std::int64_t lease_ms) {
  WriterLease lease;
  RETURN_IF_ERROR(write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(lease, begin(transaction, record, now_ms + lease_ms));
    return {};
  }));
  return lease;
}

Status SqlCatalog::renew(const WriterLease& lease, std::int64_t now_ms, std::int64_t lease_ms) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.run("UPDATE store_snapshots SET lease_expires_ms = $3 "
                                     "WHERE id = $1 AND generation = $2 AND state IN ('writing', 'sealed') "
                                     "RETURNING id",
                                     {lease.snapshot, lease.generation, now_ms + lease_ms}));
    return rows.empty() ? Status(writer_conflict(lease)) : Status();
  });
}

Status SqlCatalog::add_pack(const WriterLease& lease, const PackRecord& pack) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const SnapshotRecord snapshot, own_snapshot_in(transaction, lease, SnapshotState::kWriting));
    if (snapshot.company != pack.company) {
      return Error(ErrorCode::kInvalidArgument, "the pack " + pack.id + " belongs to another company");
    }
    RETURN_IF_ERROR(insert_unless_same(transaction, pack));
    return pin(transaction, lease.snapshot, pack.id);
  });
}

Status SqlCatalog::use_packs(const WriterLease& lease, const std::vector<std::string>& packs) {
  const std::set<std::string> distinct(packs.begin(), packs.end());
  const std::vector<std::string> wanted(distinct.begin(), distinct.end());
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const SnapshotRecord snapshot, own_snapshot_in(transaction, lease, SnapshotState::kWriting));
    for (std::size_t at = 0; at < wanted.size(); at += kPacksAtOnce) {
      const std::size_t count = std::min(kPacksAtOnce, wanted.size() - at);
      RETURN_IF_ERROR(pin_live(transaction, snapshot, std::span(wanted).subspan(at, count)));
    }
    return {};
  });
}

Status SqlCatalog::seal(const WriterLease& lease, const std::string& manifest_object, std::uint64_t manifest_size,
                        const std::string& manifest_digest, const std::string& summary) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const SnapshotRecord known, own_snapshot(transaction, lease));
    const bool same = known.manifest_object == manifest_object && known.manifest_digest == manifest_digest;
    if (known.state == SnapshotState::kSealed && same) return {};
    if (known.state != SnapshotState::kWriting) return writer_conflict(lease);
    RETURN_IF_ERROR(transaction.run(
        "UPDATE store_snapshots SET state = 'sealed', manifest_object = $2, "
        "manifest_size = $3, manifest_digest = $4, summary = $5 WHERE id = $1",
        {lease.snapshot, manifest_object, number(manifest_size), Bytes{manifest_digest}, Bytes{summary}}));
    return {};
  });
}

Status SqlCatalog::commit(const WriterLease& lease, std::int64_t now_ms) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const SnapshotRecord known, own_snapshot(transaction, lease));
    if (known.state == SnapshotState::kCommitted) return {};
    if (known.state != SnapshotState::kSealed) return writer_conflict(lease);
    RETURN_IF_ERROR(
        transaction.run("UPDATE store_snapshots SET state = 'committed', committed_ms = $2, writer = $3, "
                        "lease_expires_ms = 0 WHERE id = $1",
                        {lease.snapshot, now_ms, Bytes{}}));
    return {};
  });
}

Status SqlCatalog::abandon(const WriterLease& lease) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const SnapshotRecord known, own_snapshot(transaction, lease));
    if (known.state == SnapshotState::kAbandoned) return {};
    if (known.state != SnapshotState::kWriting && known.state != SnapshotState::kSealed) return writer_conflict(lease);
    RETURN_IF_ERROR(transaction.run("UPDATE store_snapshots SET state = 'abandoned' WHERE id = $1", {lease.snapshot}));
    return {};
  });
}

}  // namespace cofferdam::store
