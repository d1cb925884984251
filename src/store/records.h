// What the store's database remembers. Times are milliseconds since the epoch; blobs are sealed before they get here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cofferdam::store {

// writing → sealed → committed; abandoned when the writer's lease ran out before that. `deleting` keeps the row of a
// committed snapshot that was deleted until its objects are gone.
enum class SnapshotState : std::uint8_t { kWriting, kSealed, kCommitted, kAbandoned, kDeleting };
const char* to_string(SnapshotState state);
std::optional<SnapshotState> parse_snapshot_state(std::string_view name);

// The right to write one snapshot. A generation that is not the newest writes nothing: every statement of a writer
// names it (fencing).
struct WriterLease {
  std::string snapshot;
  std::int64_t generation = 0;
};

struct SnapshotRecord {
  std::string id;         // "snap-" and 26 characters of a ULID
  std::string company;    // tenant
  std::string workspace;  // what was saved: "path:/abs/dir", or a workspace id
  std::string label;      // free text of whoever saved it; may be empty
  SnapshotState state = SnapshotState::kWriting;
  std::int64_t created_ms = 0;
  std::int64_t committed_ms = 0;  // 0 until committed
  std::string key_id;             // of the company key that wraps `wrapped_key`
  std::string wrapped_key;        // the snapshot's own key, sealed
  std::string manifest_object;    // object key; empty until sealed
  std::uint64_t manifest_size = 0;
  std::string manifest_digest;  // SHA-256 of the sealed manifest, 32 raw bytes
  std::string summary;          // small JSON for lists: counts, bytes, Git head
  std::string writer;           // who writes: host, pid, start; empty once committed
  std::int64_t generation = 0;
  std::int64_t lease_expires_ms = 0;
};

enum class PackState : std::uint8_t { kLive, kDeleting };

// One object full of sealed chunks.
struct PackRecord {
  std::string id;  // 32 hexadecimal digits
  std::string company;
  std::string object;  // object key
  std::uint64_t size = 0;
  std::string digest;  // SHA-256 of the object, 32 raw bytes
  std::string key_id;  // of the company key whose content key sealed it
  std::string index;   // sealed list of the chunks in it (the same bytes end the object)
  std::int64_t created_ms = 0;
  PackState state = PackState::kLive;
};

// A company's key, wrapped by a master key. Content and snapshot keys derive from it.
struct CompanyKeyRecord {
  std::string company;
  std::string id;             // 16 hexadecimal digits, random
  std::string master_key_id;  // fingerprint of the master key that wraps it
  std::string wrapped;        // sealed key; empty when erased
  std::int64_t created_ms = 0;
  bool current = false;  // new packs and snapshots use it
  bool erased = false;   // the company was erased: what it sealed can never be read again
};

}  // namespace cofferdam::store
