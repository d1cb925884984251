// The databases that the tests of the catalog run on: SQLite in a file, and a PostgreSQL server of the test's own.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "store/database.h"
#include "system/child_process.h"
#include "system/tree.h"

namespace cofferdam::store {

enum class DatabaseKind { kSqlite, kPostgres };

std::vector<DatabaseKind> database_kinds();
const char* name_of(DatabaseKind kind);
// For GoogleTest's lists.
inline void PrintTo(DatabaseKind kind, std::ostream* out) {
  *out << name_of(kind);
}

// One empty database, gone with its owner.
class TestDatabase {
 public:
  static std::unique_ptr<TestDatabase> make(DatabaseKind kind);
  virtual ~TestDatabase() = default;
  // Why this machine has none; empty when it has.
  virtual std::string missing() const { return ""; }
  // As open_catalog takes it.
  virtual std::string url() const = 0;
  virtual Result<std::unique_ptr<Database>> open() const = 0;
};

// A server on a Unix socket, run by a user without rights, that ends with the test.
class PostgresServer {
 public:
  static std::string missing();
  static Result<std::unique_ptr<PostgresServer>> start();
  ~PostgresServer() { stop(); }

  // `user_and_password`: "user" or "user:password".
  std::string url(const std::string& user_and_password = "cofferdam") const;
  // Ends every session at once, as a crash would.
  void stop();
  Status start_again();
  std::string directory() const { return folder_.path(); }

 private:
  explicit PostgresServer(system::TemporaryDirectory folder) : folder_(std::move(folder)) {}
  Status make_cluster();

  system::TemporaryDirectory folder_;
  std::unique_ptr<system::ChildProcess> server_;
};

}  // namespace cofferdam::store
