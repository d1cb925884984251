// The schema on SQLite. The same tables as in migrations_postgres.cc; columns that may hold any bytes are BLOB.
#include <array>

#include "store/database.h"

namespace cofferdam::store {

std::span<const Migration> sqlite_migrations() {
  static const std::array<Migration, 1> kMigrations = {{{
      R"(CREATE TABLE store_company_keys (
           company TEXT NOT NULL,
           id TEXT NOT NULL,
           master_key_id TEXT NOT NULL,
           wrapped BLOB NOT NULL,
           created_ms INTEGER NOT NULL,
           is_current INTEGER NOT NULL CHECK (is_current IN (0, 1)),
           is_erased INTEGER NOT NULL CHECK (is_erased IN (0, 1)),
           PRIMARY KEY (company, id)
         ) STRICT, WITHOUT ROWID)",
      // Two processes that both believe to have made the current key cannot both be right.
      "CREATE UNIQUE INDEX store_company_keys_current ON store_company_keys (company) WHERE is_current = 1",
      R"(CREATE TABLE store_snapshots (
           id TEXT NOT NULL PRIMARY KEY,
           company TEXT NOT NULL,
           workspace BLOB NOT NULL,
           label BLOB NOT NULL,
           state TEXT NOT NULL CHECK (state IN ('writing', 'sealed', 'committed', 'abandoned', 'deleting')),
           created_ms INTEGER NOT NULL,
           committed_ms INTEGER NOT NULL,
           key_id TEXT NOT NULL,
           wrapped_key BLOB NOT NULL,
           manifest_object TEXT NOT NULL,
           manifest_size INTEGER NOT NULL,
           manifest_digest BLOB NOT NULL,
           summary BLOB NOT NULL,
           writer BLOB NOT NULL,
           generation INTEGER NOT NULL,
           lease_expires_ms INTEGER NOT NULL
         ) STRICT)",
      "CREATE INDEX store_snapshots_listing ON store_snapshots (company, created_ms, id)",
      "CREATE INDEX store_snapshots_state ON store_snapshots (state)",
      R"(CREATE TABLE store_packs (
           id TEXT NOT NULL PRIMARY KEY,
           company TEXT NOT NULL,
           object TEXT NOT NULL UNIQUE,
           size INTEGER NOT NULL,
           digest BLOB NOT NULL,
           key_id TEXT NOT NULL,
           chunk_index BLOB NOT NULL,
           created_ms INTEGER NOT NULL,
           state TEXT NOT NULL CHECK (state IN ('live', 'deleting'))
         ) STRICT)",
      "CREATE INDEX store_packs_company ON store_packs (company, state)",
      R"(CREATE TABLE store_snapshot_packs (
           snapshot TEXT NOT NULL REFERENCES store_snapshots (id),
           pack TEXT NOT NULL REFERENCES store_packs (id),
           PRIMARY KEY (snapshot, pack)
         ) STRICT, WITHOUT ROWID)",
      "CREATE INDEX store_snapshot_packs_pack ON store_snapshot_packs (pack)",
  }}};
  return kMigrations;
}

}  // namespace cofferdam::store
