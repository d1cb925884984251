// The schema on PostgreSQL. The same tables as in migrations_sqlite.cc. Text compares by its bytes, as there.
#include <array>

#include "store/database.h"

namespace cofferdam::store {

std::span<const Migration> postgres_migrations() {
  static const std::array<Migration, 1> kMigrations = {{{
      R"(CREATE TABLE store_company_keys (
           company TEXT COLLATE "C" NOT NULL,
           id TEXT COLLATE "C" NOT NULL,
           master_key_id TEXT COLLATE "C" NOT NULL,
           wrapped BYTEA NOT NULL,
           created_ms BIGINT NOT NULL,
           is_current BIGINT NOT NULL CHECK (is_current IN (0, 1)),
           is_erased BIGINT NOT NULL CHECK (is_erased IN (0, 1)),
           PRIMARY KEY (company, id)
         ))",
      // Two processes that both believe to have made the current key cannot both be right.
      "CREATE UNIQUE INDEX store_company_keys_current ON store_company_keys (company) WHERE is_current = 1",
      R"(CREATE TABLE store_snapshots (
           id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
           company TEXT COLLATE "C" NOT NULL,
           workspace BYTEA NOT NULL,
           label BYTEA NOT NULL,
           state TEXT NOT NULL CHECK (state IN ('writing', 'sealed', 'committed', 'abandoned', 'deleting')),
           created_ms BIGINT NOT NULL,
           committed_ms BIGINT NOT NULL,
           key_id TEXT NOT NULL,
           wrapped_key BYTEA NOT NULL,
           manifest_object TEXT NOT NULL,
           manifest_size BIGINT NOT NULL,
           manifest_digest BYTEA NOT NULL,
           summary BYTEA NOT NULL,
           writer BYTEA NOT NULL,
           generation BIGINT NOT NULL,
           lease_expires_ms BIGINT NOT NULL
         ))",
      "CREATE INDEX store_snapshots_listing ON store_snapshots (company, created_ms, id)",
      "CREATE INDEX store_snapshots_state ON store_snapshots (state)",
      R"(CREATE TABLE store_packs (
           id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
           company TEXT COLLATE "C" NOT NULL,
           object TEXT NOT NULL UNIQUE,
           size BIGINT NOT NULL,
           digest BYTEA NOT NULL,
           key_id TEXT NOT NULL,
           chunk_index BYTEA NOT NULL,
           created_ms BIGINT NOT NULL,
           state TEXT NOT NULL CHECK (state IN ('live', 'deleting'))
         ))",
      "CREATE INDEX store_packs_company ON store_packs (company, state)",
      R"(CREATE TABLE store_snapshot_packs (
           snapshot TEXT COLLATE "C" NOT NULL REFERENCES store_snapshots (id),
           pack TEXT COLLATE "C" NOT NULL REFERENCES store_packs (id),
           PRIMARY KEY (snapshot, pack)
         ))",
      "CREATE INDEX store_snapshot_packs_pack ON store_snapshot_packs (pack)",
  }}};
  return kMigrations;
}

}  // namespace cofferdam::store
