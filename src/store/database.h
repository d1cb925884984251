// The little that the catalog needs of a database: transactions and statements with values. One driver for each kind;
// everything that the catalog says in SQL is said once, in what both kinds understand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cofferdam::store {

// Bytes that need not be text: a path is any bytes but NUL, and PostgreSQL's text must be UTF-8.
struct Bytes {
  std::string value;
  bool operator==(const Bytes&) const = default;
};
using SqlValue = std::variant<std::monostate, std::int64_t, std::string, Bytes>;

// One row of an answer. Asking a column for another type than it has is a bug of the caller and throws.
class Row {
 public:
  explicit Row(std::vector<SqlValue> values) : values_(std::move(values)) {}
  std::int64_t number(std::size_t column) const { return std::get<std::int64_t>(values_.at(column)); }
  const std::string& text(std::size_t column) const { return std::get<std::string>(values_.at(column)); }
  const std::string& bytes(std::size_t column) const { return std::get<Bytes>(values_.at(column)).value; }
  bool is_null(std::size_t column) const { return std::holds_alternative<std::monostate>(values_.at(column)); }

 private:
  std::vector<SqlValue> values_;
};

// Valid only inside the function that it was handed to.
class Transaction {
 public:
  virtual ~Transaction() = default;
  // One statement with its parameters $1, $2, …, each of which the statement must use.
  virtual Result<std::vector<Row>> run(const std::string& sql, const std::vector<SqlValue>& parameters = {}) = 0;
};

enum class Access : std::uint8_t {
  kRead,       // sees one state of the database
  kWrite,      // as if no other transaction ran meanwhile
  kExclusive,  // nobody else who asks for this runs meanwhile: for changes of the schema
};

// Thread-safe; calls block. kUnavailable: it cannot be reached or is busy; a write may or may not have happened.
class Database {
 public:
  virtual ~Database() = default;
  // Runs `body` in a transaction, which is committed when it succeeds and rolled back when it fails. `body` may run
  // more than once (a conflict with another transaction), so it must have no effect but through its transaction.
  virtual Status transact(Access access, const std::function<Status(Transaction&)>& body) = 0;
  // Asks the database to look itself over; kDataLoss with what it said.
  virtual Status check() = 0;
  // Overwrites what deleted and replaced rows left behind, as far as the database lets us.
  virtual Status scrub() = 0;
  // Never with a password.
  virtual std::string description() const = 0;
};

// One step of the schema: the statements that lead to it from the step before. Steps are never changed once released.
using Migration = std::vector<const char*>;
std::span<const Migration> sqlite_migrations();
std::span<const Migration> postgres_migrations();

// Brings the tables of the catalog to the last of `migrations`; kFailedPrecondition when they are beyond it.
Status migrate(Database& database, std::span<const Migration> migrations);

// `path`: made when missing, mode 0600. kDataLoss when it is no SQLite database.
Result<std::unique_ptr<Database>> open_sqlite(const std::string& path);
// `url`: "postgresql://…" as libpq reads it, with PGPASSWORD, the password file and the other ways libpq has.
Result<std::unique_ptr<Database>> open_postgres(const std::string& url);

}  // namespace cofferdam::store
