// One connection to an SQLite file, used by one thread at a time. Other processes may use the file: write-ahead log,
// writers take their lock at the beginning of a transaction (a reader that turns writer could find itself outrun), and
// a commit is on the disk when it returns.
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "base/scope_exit.h"
#include "base/strings.h"
#include "store/database.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::store {
namespace {

constexpr int kBusyMilliseconds = 20'000;
constexpr int kWalAttempts = 100;
constexpr auto kWalPause = std::chrono::milliseconds(20);
constexpr unsigned kFileMode = 0600;

ErrorCode code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return ErrorCode::kPermissionDenied;
    case SQLITE_IOERR:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

struct ConnectionCloser {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
};
using Connection = std::unique_ptr<sqlite3, ConnectionCloser>;

struct StatementFinisher {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, StatementFinisher>;

Error error_of(sqlite3* connection, int result) {
  Error error(code_of(result), std::string("SQLite: ") + sqlite3_errmsg(connection));
  if (error.code() == ErrorCode::kUnavailable) return std::move(error).with_retry(RetryClass::kLater);
  return error;
}

int bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* const bytes = std::get_if<Bytes>(&value)) {
    // A null pointer would be taken for NULL.
    const char* const data = bytes->value.empty() ? "" : bytes->value.data();
    return sqlite3_bind_blob64(statement, index, data, bytes->value.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

SqlValue column(sqlite3_stmt* statement, int index) {
  const auto size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement, index)); };
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, index)};
    case SQLITE_TEXT: {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
      return std::string(text, size());
    }
    case SQLITE_BLOB: {
      const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, index));
      return Bytes{bytes == nullptr ? std::string() : std::string(bytes, size())};
    }
    default:
      return std::monostate();
  }
}

Row row_of(sqlite3_stmt* statement) {
  std::vector<SqlValue> values;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) values.push_back(column(statement, i));
  return Row(std::move(values));
}

// SQLite numbers "$1" by where it stands first, not by its digit: the index is asked for by name.
Status bind_all(sqlite3* connection, sqlite3_stmt* statement, const std::vector<SqlValue>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = "$" + std::to_string(i + 1);
    const int index = sqlite3_bind_parameter_index(statement, name.c_str());
    if (index == 0) return Error(ErrorCode::kInternal, "a statement does not use " + name);
    if (const int result = bind(statement, index, parameters[i]); result != SQLITE_OK) {
      return error_of(connection, result);
    }
  }
  return {};
}

Result<std::vector<Row>> run_statement(sqlite3* connection, const std::string& sql,
                                       const std::vector<SqlValue>& parameters = {}) {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return error_of(connection, prepared);
  RETURN_IF_ERROR(bind_all(connection, statement.get(), parameters));
  std::vector<Row> rows;
  while (true) {
    const int result = sqlite3_step(statement.get());
    if (result == SQLITE_DONE) return rows;
    if (result != SQLITE_ROW) return error_of(connection, result);
    rows.push_back(row_of(statement.get()));
  }
}

class SqliteTransaction final : public Transaction {
 public:
  explicit SqliteTransaction(sqlite3* connection) : connection_(connection) {}
  Result<std::vector<Row>> run(const std::string& sql, const std::vector<SqlValue>& parameters) override {
    return run_statement(connection_, sql, parameters);
  }

 private:
  sqlite3* connection_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::string path, Connection connection)
      : path_(std::move(path)), connection_(std::move(connection)) {}

  Status transact(Access access, const std::function<Status(Transaction&)>& body) override {
    const std::lock_guard lock(mutex_);
    return in_context(transact_locked(access, body), description());
  }

  Status check() override {
    const std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     in_context(run_statement(connection_.get(), "PRAGMA integrity_check(10)"), description()));
    if (rows.size() == 1 && rows.front().text(0) == "ok") return {};
    std::vector<std::string> findings;
    for (const Row& row : rows) findings.push_back(printable(row.text(0)));
    return Error(ErrorCode::kDataLoss, description() + " is damaged: " + join(findings, "; "));
  }

  // Deleted content is overwritten (secure_delete), but the log holds older pages until it is emptied.
  Status scrub() override {
    const std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(in_context(run_statement(connection_.get(), "PRAGMA wal_checkpoint(TRUNCATE)"), description()));
    return {};
  }

  std::string description() const override { return "SQLite database " + printable(path_); }

 private:
  Status transact_locked(Access access, const std::function<Status(Transaction&)>& body) {
    RETURN_IF_ERROR(run_statement(connection_.get(), access == Access::kRead ? "BEGIN" : "BEGIN IMMEDIATE"));
    ScopeExit roll_back([&] { (void)run_statement(connection_.get(), "ROLLBACK"); });
    SqliteTransaction transaction(connection_.get());
    RETURN_IF_ERROR(body(transaction));
    RETURN_IF_ERROR(run_statement(connection_.get(), "COMMIT"));
    roll_back.dismiss();
    return {};
  }

  std::string path_;
  std::mutex mutex_;
  Connection connection_;
};

// The file is made before SQLite would make it with another mode; the log files take over its mode. It is not opened
// for that: closing a descriptor drops the locks that this process holds on the file through SQLite.
Status make_file(const std::string& path) {
  const std::string directory(system::parent_path(path));
  if (!directory.empty()) RETURN_IF_ERROR(system::make_private_directories(directory));
  if (::mknod(path.c_str(), S_IFREG | kFileMode, 0) != 0) {
    if (errno == EEXIST) return {};
    return Error::from_errno(errno, "make the database " + printable(path));
  }
  ASSIGN_OR_RETURN(const UniqueFd parent, system::open_directory(directory.empty() ? "." : directory));
  return system::synchronise(parent.get(), "the directory of " + path);
}

// Two processes that turn a new file to the log at once get SQLITE_BUSY whatever their time-out is.
Status use_log(sqlite3* connection) {
  for (int attempt = 1;; ++attempt) {
    const auto done = run_statement(connection, "PRAGMA journal_mode = WAL");
    if (done) return {};
    if (done.error().code() != ErrorCode::kUnavailable || attempt == kWalAttempts) return done.error();
    std::this_thread::sleep_for(kWalPause);
  }
}

Status configure(sqlite3* connection) {
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  RETURN_IF_ERROR(use_log(connection));
  for (const char* const setting :
       {"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA secure_delete = ON"}) {
    RETURN_IF_ERROR(run_statement(connection, setting));
  }
  return {};
}

Result<Connection> connect(const std::string& path) {
  RETURN_IF_ERROR(make_file(path));
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection(raw);
  if (opened != SQLITE_OK) return error_of(raw, opened);
  RETURN_IF_ERROR(configure(raw));
  return connection;
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path) {
  ASSIGN_OR_RETURN(Connection connection, in_context(connect(path), "opening the SQLite database " + printable(path)));
  return std::make_unique<SqliteDatabase>(path, std::move(connection));
}

}  // namespace cofferdam::store
