#include "store/database.h"

namespace cofferdam::store {
namespace {

// Other parts of the product may keep their tables in the same database: each counts its own steps.
constexpr const char* kComponent = "store";

Result<std::size_t> current_step(Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.run("SELECT count(*), coalesce(max(version), 0) FROM schema_migrations "
                                   "WHERE component = $1",
                                   {kComponent}));
  return static_cast<std::size_t>(rows.front().number(1));
}

Status apply(Transaction& transaction, const Migration& migration, std::size_t step) {
  for (const char* const statement : migration) RETURN_IF_ERROR(transaction.run(statement));
  RETURN_IF_ERROR(transaction.run("INSERT INTO schema_migrations (component, version) VALUES ($1, $2)",
                                  {kComponent, static_cast<std::int64_t>(step)}));
  return {};
}

Status migrate_in(Transaction& transaction, std::span<const Migration> migrations) {
  RETURN_IF_ERROR(
      transaction.run("CREATE TABLE IF NOT EXISTS schema_migrations (component TEXT NOT NULL, "
                      "version BIGINT NOT NULL, PRIMARY KEY (component, version))"));
  ASSIGN_OR_RETURN(const std::size_t current, current_step(transaction));
  if (current > migrations.size()) {
    return Error(ErrorCode::kFailedPrecondition, "the catalog's schema is at step " + std::to_string(current) +
                                                     ", and this program knows " + std::to_string(migrations.size()))
        .with_hint("Use the newer version of cofferdam that wrote it.");
  }
  for (std::size_t step = current; step < migrations.size(); ++step) {
    RETURN_IF_ERROR(in_context(apply(transaction, migrations[step], step + 1),
                               "bringing the catalog's schema to step " + std::to_string(step + 1)));
  }
  return {};
}

}  // namespace

Status migrate(Database& database, std::span<const Migration> migrations) {
  return in_context(database.transact(Access::kExclusive,
                                      [&](Transaction& transaction) { return migrate_in(transaction, migrations); }),
                    database.description());
}

}  // namespace cofferdam::store
