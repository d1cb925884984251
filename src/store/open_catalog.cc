#include <string_view>

#include "store/catalog.h"
#include "store/sql_catalog.h"

namespace cofferdam::store {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_postgres(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

struct Opened {
  std::unique_ptr<Database> database;
  std::span<const Migration> migrations;
};

Result<Opened> open_database(const std::string& url) {
  if (is_postgres(url)) {
    ASSIGN_OR_RETURN(std::unique_ptr<Database> database, open_postgres(url));
    return Opened{std::move(database), postgres_migrations()};
  }
  const bool named = url.starts_with(kSqlite);
  // Not repeated in the message: a mistyped URL may hold a password.
  if (!named && url.find("://") != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "the catalog's URL is of an unknown kind")
        .with_hint("Give a path, sqlite:PATH or postgresql://….");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, open_sqlite(named ? url.substr(kSqlite.size()) : url));
  return Opened{std::move(database), sqlite_migrations()};
}

}  // namespace

Result<std::unique_ptr<Catalog>> open_catalog(const std::string& url) {
  ASSIGN_OR_RETURN(Opened opened, open_database(url));
  RETURN_IF_ERROR(migrate(*opened.database, opened.migrations));
  return std::make_unique<SqlCatalog>(std::move(opened.database));
}

}  // namespace cofferdam::store
