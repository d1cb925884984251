// One connection to PostgreSQL, used by one thread at a time, made again after it was lost. Writers run SERIALIZABLE:
// what they read stays true until they commit, or one of them is told to try again.
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "crypto/secret.h"
#include "store/database.h"
#include "store/postgres_url.h"

namespace cofferdam::store {
namespace {

constexpr int kMostAttempts = 30;
constexpr auto kFirstPause = std::chrono::milliseconds(1);
constexpr auto kLongestPause = std::chrono::milliseconds(250);
constexpr int kBinary = 1;

// Types of values on the wire (pg_type.dat).
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;

struct ConnectionCloser {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Connection = std::unique_ptr<PGconn, ConnectionCloser>;

struct ResultCloser {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, ResultCloser>;

// --- errors

// What a statement came to, beside the error that its caller sees.
enum class Outcome : std::uint8_t { kDone, kConflict, kLost, kFailed };

// SQLSTATE classes and codes: appendix A of PostgreSQL's manual.
bool is_conflict(std::string_view state) {
  // Serialization failure, deadlock; and a unique name that another transaction took between our look and our insert.
  return state == "40001" || state == "40P01" || state == "23505";
}

ErrorCode code_of(std::string_view state) {
  if (state.starts_with("08") || state.starts_with("57P")) return ErrorCode::kUnavailable;
  if (state == "53300" || state == "55P03" || state == "57014" || is_conflict(state)) return ErrorCode::kUnavailable;
  if (state.starts_with("53") || state.starts_with("54")) return ErrorCode::kResourceExhausted;
  if (state == "42501" || state.starts_with("28") || state == "25006") return ErrorCode::kPermissionDenied;
  if (state.starts_with("22")) return ErrorCode::kInvalidArgument;
  if (state.starts_with("XX001") || state.starts_with("XX002")) return ErrorCode::kDataLoss;
  return ErrorCode::kInternal;
}

Error make_error(ErrorCode code, const char* message) {
  Error error(code, "PostgreSQL: " + printable(trimmed(message)));
  if (code == ErrorCode::kUnavailable) return std::move(error).with_retry(RetryClass::kLater);
  return error;
}

// --- values

std::string big_endian(std::int64_t value) {
  std::string bytes(sizeof value, '\0');
  auto rest = static_cast<std::uint64_t>(value);
  for (std::size_t i = bytes.size(); i-- > 0; rest >>= 8) bytes[i] = static_cast<char>(rest & 0xff);
  return bytes;
}

std::int64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<std::int64_t>(value);
}

// The parameters of one statement as libpq takes them. Refers to `values`.
class Parameters {
 public:
  explicit Parameters(const std::vector<SqlValue>& values) {
    numbers_.reserve(values.size());
    for (const SqlValue& value : values) add(value);
  }
  int count() const { return static_cast<int>(types_.size()); }
  const Oid* types() const { return types_.data(); }
  const char* const* data() const { return data_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  void add(const SqlValue& value) {
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      add(kInt8, &numbers_.emplace_back(big_endian(*number)));
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
      add(kText, text);
    } else if (const auto* const bytes = std::get_if<Bytes>(&value)) {
      add(kBytea, &bytes->value);
    } else {
      add(0, nullptr);
    }
  }
  void add(Oid type, const std::string* bytes) {
    types_.push_back(type);
    data_.push_back(bytes == nullptr ? nullptr : bytes->data());
    lengths_.push_back(bytes == nullptr ? 0 : static_cast<int>(bytes->size()));
    formats_.push_back(kBinary);
  }

  std::vector<std::string> numbers_;
  std::vector<Oid> types_;
  std::vector<const char*> data_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

SqlValue value_at(const PGresult* answer, int row, int column) {
  if (PQgetisnull(answer, row, column) != 0) return std::monostate();
  std::string bytes(PQgetvalue(answer, row, column), static_cast<std::size_t>(PQgetlength(answer, row, column)));
  switch (PQftype(answer, column)) {
    case kInt8:
      return from_big_endian(bytes);
    case kBytea:
      return Bytes{std::move(bytes)};
    default:
      return bytes;
  }
}

std::vector<Row> rows_of(const PGresult* answer) {
  std::vector<Row> rows;
  const int count = PQntuples(answer);
  const int columns = PQnfields(answer);
  rows.reserve(static_cast<std::size_t>(count));
  for (int row = 0; row < count; ++row) {
    std::vector<SqlValue> values;
    for (int column = 0; column < columns; ++column) values.push_back(value_at(answer, row, column));
    rows.emplace_back(std::move(values));
  }
  return rows;
}

// --- statements

// Remembers how the last failed statement failed: the body that ran it sees an Error only.
class PostgresTransaction final : public Transaction {
 public:
  explicit PostgresTransaction(PGconn* connection) : connection_(connection) {}

  Result<std::vector<Row>> run(const std::string& sql, const std::vector<SqlValue>& values) override {
    const Parameters parameters(values);
    const Answer answer(PQexecParams(connection_, sql.c_str(), parameters.count(), parameters.types(),
                                     parameters.data(), parameters.lengths(), parameters.formats(), kBinary));
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows_of(answer.get());
    return failure(answer.get());
  }

  Outcome outcome() const { return outcome_; }

 private:
  Error failure(const PGresult* answer) {
    if (PQstatus(connection_) == CONNECTION_BAD) {
      outcome_ = Outcome::kLost;
      return make_error(ErrorCode::kUnavailable, PQerrorMessage(connection_));
    }
    const char* const field = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const std::string_view state = field == nullptr ? "" : field;
    outcome_ = is_conflict(state) ? Outcome::kConflict : Outcome::kFailed;
    return make_error(code_of(state), PQresultErrorMessage(answer));
  }

  PGconn* connection_;
  Outcome outcome_ = Outcome::kDone;
};

const char* begin_statement(Access access) {
  switch (access) {
    case Access::kRead:
      return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    case Access::kWrite:
      return "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE";
    case Access::kExclusive:
      // Each statement must see what the holder of the lock before us has committed.
      return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
  }
  return "BEGIN";
}

// The number is "cofferda" in ASCII: other users of the database have locks of their own.
constexpr const char* kTakeExclusiveLock = "SELECT pg_advisory_xact_lock(7165058122144441441)";

Status run_all(Transaction& transaction, const std::vector<const char*>& statements) {
  for (const char* const statement : statements) RETURN_IF_ERROR(transaction.run(statement));
  return {};
}

Status prepare_session(PGconn* connection) {
  PostgresTransaction session(connection);
  return run_all(session,
                 {// A commit that was confirmed must survive a crash of the server, whatever its default is.
                  "SELECT set_config('synchronous_commit', 'on', false) "
                  "WHERE current_setting('synchronous_commit') = 'off'",
                  // A scan of a whole table conflicts with every other writer of it.
                  "SET enable_seqscan = off", "SET idle_in_transaction_session_timeout = '60s'"});
}

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(crypto::SecretString url, std::string description)
      : url_(std::move(url)), description_(std::move(description)) {}

  Status transact(Access access, const std::function<Status(Transaction&)>& body) override {
    const std::lock_guard lock(mutex_);
    return in_context(transact_locked(access, body), description_);
  }

  // The server checks its pages itself, where it was set up with checksums; what can be asked is that it answers.
  Status check() override {
    return transact(Access::kRead, [](Transaction& transaction) -> Status {
      RETURN_IF_ERROR(transaction.run("SELECT count(*) FROM store_snapshots"));
      return {};
    });
  }

  Status scrub() override {
    const std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(in_context(connect(), description_));
    PostgresTransaction session(connection_.get());
    return in_context(run_all(session, {"VACUUM store_company_keys"}), description_);
  }

  std::string description() const override { return description_; }

 private:
  struct Attempt {
    Status status;
    Outcome outcome = Outcome::kDone;
    bool begun = false;
  };

  Status transact_locked(Access access, const std::function<Status(Transaction&)>& body) {
    bool reconnected = false;
    auto pause = kFirstPause;
    for (int number = 1;; ++number) {
      RETURN_IF_ERROR(connect());
      Attempt attempt = try_once(access, body);
      if (attempt.outcome == Outcome::kLost) {
        connection_.reset();
        // Lost while it idled: nothing of this transaction has happened.
        const bool again = !attempt.begun && !std::exchange(reconnected, true);
        if (again) continue;
      }
      if (attempt.outcome != Outcome::kConflict || number == kMostAttempts) return std::move(attempt.status);
      std::this_thread::sleep_for(jittered(pause));
      pause = std::min(pause * 2, kLongestPause);
    }
  }

  Attempt try_once(Access access, const std::function<Status(Transaction&)>& body) {
    PostgresTransaction transaction(connection_.get());
    Status status = run_all(transaction, {begin_statement(access)});
    if (!status) return {std::move(status), transaction.outcome(), false};
    status = run_begun(access, transaction, body);
    if (!status && transaction.outcome() != Outcome::kLost) {
      PostgresTransaction ending(connection_.get());
      // A failed COMMIT has ended the transaction; a connection that cannot even roll back is of no more use.
      const bool ended = PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
      if (!ended && !run_all(ending, {"ROLLBACK"})) connection_.reset();
    }
    return {std::move(status), transaction.outcome(), true};
  }

  static Status run_begun(Access access, PostgresTransaction& transaction,
                          const std::function<Status(Transaction&)>& body) {
    if (access == Access::kExclusive) RETURN_IF_ERROR(transaction.run(kTakeExclusiveLock, {}));
    RETURN_IF_ERROR(body(transaction));
    // The server would answer a COMMIT after a failed statement with success, and roll back.
    if (transaction.outcome() != Outcome::kDone)
      return Error(ErrorCode::kInternal, "a failed statement was overlooked");
    return run_all(transaction, {"COMMIT"});
  }

  std::chrono::milliseconds jittered(std::chrono::milliseconds pause) {
    return std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, pause.count())(random_));
  }

  // Free when there is a connection.
  Status connect() {
    if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return {};
    const std::string url(url_.reveal());
    // What stands later wins: the URL may overrule the first three, and nothing the last.
    const std::array keywords = {"connect_timeout", "tcp_user_timeout", "fallback_application_name",
                                 "dbname",          "client_encoding",  static_cast<const char*>(nullptr)};
    const std::array values = {"10", "30000", "cofferdam", url.c_str(), "UTF8", static_cast<const char*>(nullptr)};
    Connection connection(PQconnectdbParams(keywords.data(), values.data(), 1));
    if (connection == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for a connection");
    // libpq would write the server's notices to our standard error.
    PQsetNoticeReceiver(connection.get(), [](void*, const PGresult*) {}, nullptr);
    if (PQstatus(connection.get()) != CONNECTION_OK) return connect_error(connection.get());
    RETURN_IF_ERROR(prepare_session(connection.get()));
    connection_ = std::move(connection);
    return {};
  }

  static Error connect_error(PGconn* connection) {
    // Only a server that has been reached asks for a password.
    const bool refused = PQconnectionNeedsPassword(connection) != 0 || PQconnectionUsedPassword(connection) != 0;
    return make_error(refused ? ErrorCode::kPermissionDenied : ErrorCode::kUnavailable, PQerrorMessage(connection));
  }

  const crypto::SecretString url_;
  const std::string description_;
  std::mutex mutex_;
  std::minstd_rand random_{std::random_device()()};
  Connection connection_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(const std::string& url) {
  ASSIGN_OR_RETURN(std::string description, describe_postgres_url(url));
  return std::make_unique<PostgresDatabase>(crypto::SecretString(url), std::move(description));
}

}  // namespace cofferdam::store
