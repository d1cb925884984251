#include "store/sql_rows.h"

namespace cofferdam::store {

const char* const kKeyColumns = "company, id, master_key_id, wrapped, created_ms, is_current, is_erased";

CompanyKeyRecord key_record(const Row& row) {
  return {.company = row.text(0),
          .id = row.text(1),
          .master_key_id = row.text(2),
          .wrapped = row.bytes(3),
          .created_ms = row.number(4),
          .current = row.number(5) != 0,
          .erased = row.number(6) != 0};
}

const char* const kSnapshotColumns =
    "id, company, workspace, label, state, created_ms, committed_ms, key_id, wrapped_key, manifest_object, "
    "manifest_size, manifest_digest, summary, writer, generation, lease_expires_ms";

SnapshotRecord snapshot_record(const Row& row) {
  return {.id = row.text(0),
          .company = row.text(1),
          .workspace = row.bytes(2),
          .label = row.bytes(3),
          // The schema's CHECK lets no other name in.
          .state = parse_snapshot_state(row.text(4)).value(),
          .created_ms = row.number(5),
          .committed_ms = row.number(6),
          .key_id = row.text(7),
          .wrapped_key = row.bytes(8),
          .manifest_object = row.text(9),
          .manifest_size = static_cast<std::uint64_t>(row.number(10)),
          .manifest_digest = row.bytes(11),
          .summary = row.bytes(12),
          .writer = row.bytes(13),
          .generation = row.number(14),
          .lease_expires_ms = row.number(15)};
}

const char* const kPackColumns = "id, company, object, size, digest, key_id, chunk_index, created_ms, state";

PackRecord pack_record(const Row& row) {
  return {.id = row.text(0),
          .company = row.text(1),
          .object = row.text(2),
          .size = static_cast<std::uint64_t>(row.number(3)),
          .digest = row.bytes(4),
          .key_id = row.text(5),
          .index = row.bytes(6),
          .created_ms = row.number(7),
          .state = row.text(8) == "live" ? PackState::kLive : PackState::kDeleting};
}

}  // namespace cofferdam::store
