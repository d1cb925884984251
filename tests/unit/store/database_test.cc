// Transactions and the schema's steps, on each database.
#include "store/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "databases.h"

namespace cofferdam::store {
namespace {

using testing::HasSubstr;

class DatabaseTest : public testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    place_ = TestDatabase::make(GetParam());
    if (!place_->missing().empty()) GTEST_SKIP() << place_->missing();
    database_ = open();
    ASSERT_NE(database_, nullptr);
    must(*database_, "CREATE TABLE counter (id BIGINT NOT NULL PRIMARY KEY, value BIGINT NOT NULL)");
    must(*database_, "INSERT INTO counter (id, value) VALUES (1, 0)");
  }

  std::unique_ptr<Database> open() {
    auto database = place_->open();
    EXPECT_TRUE(database) << database.error().to_string();
    return database ? std::move(*database) : nullptr;
  }

  static void must(Database& database, const std::string& sql, const std::vector<SqlValue>& values = {}) {
    const Status done = database.transact(Access::kWrite, [&](Transaction& transaction) -> Status {
      RETURN_IF_ERROR(transaction.run(sql, values));
      return {};
    });
    EXPECT_TRUE(done) << done.error().to_string();
  }

  static std::int64_t number(Database& database, const std::string& sql) {
    std::int64_t value = -1;
    const Status done = database.transact(Access::kRead, [&](Transaction& transaction) -> Status {
      ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run(sql));
      value = rows.at(0).number(0);
      return {};
    });
    EXPECT_TRUE(done) << done.error().to_string();
    return value;
  }

  // Reads, then writes what it read plus one: two at once would lose one of them.
  static Status increment(Transaction& transaction) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT value FROM counter WHERE id = 1"));
    RETURN_IF_ERROR(
        transaction.run("UPDATE counter SET value = $1 WHERE id = $2", {rows.at(0).number(0) + 1, std::int64_t{1}}));
    return {};
  }

  std::unique_ptr<TestDatabase> place_;
  std::unique_ptr<Database> database_;
};

TEST_P(DatabaseTest, ValuesOfEveryTypeComeBack) {
  const char* const bytes = GetParam() == DatabaseKind::kSqlite ? "BLOB" : "BYTEA";
  must(*database_, std::string("CREATE TABLE samples (n BIGINT, t TEXT, b ") + bytes + ")");
  const std::string any("\0\xff'\"\\$1\n", 8);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  must(*database_, "INSERT INTO samples VALUES ($1, $2, $3)", {least, "grün '$1", Bytes{any}});
  must(*database_, "INSERT INTO samples VALUES ($3, $1, $2)", {"", Bytes{}, std::int64_t{1}});
  must(*database_, "INSERT INTO samples (n) VALUES ($1)", {std::int64_t{2}});
  ASSERT_TRUE(database_->transact(Access::kRead, [&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT n, t, b FROM samples ORDER BY n"));
    EXPECT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].number(0), least);
    EXPECT_EQ(rows[0].text(1), "grün '$1");
    EXPECT_EQ(rows[0].bytes(2), any);
    EXPECT_EQ(rows[1].text(1), "");
    EXPECT_EQ(rows[1].bytes(2), "");
    EXPECT_TRUE(rows[2].is_null(1));
    EXPECT_TRUE(rows[2].is_null(2));
    return {};
  }));
}

TEST_P(DatabaseTest, AFailedBodyLeavesNothing) {
  const Status failed = database_->transact(Access::kWrite, [&](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(increment(transaction));
    return Error(ErrorCode::kNotFound, "the body's own reason");
  });
  EXPECT_EQ(failed.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), 0);
}

TEST_P(DatabaseTest, AWrongStatementIsABugAndTheNextTransactionWorks) {
  const Status failed = database_->transact(Access::kWrite, [&](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(increment(transaction));
    RETURN_IF_ERROR(transaction.run("SELECT 1 FROM nowhere"));
    return {};
  });
  EXPECT_EQ(failed.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("nowhere"));
  must(*database_, "UPDATE counter SET value = value + 1");
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), 1);
}

TEST_P(DatabaseTest, WritersRunAsIfOneAfterTheOther) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto own = open();
      for (int i = 0; i < kEach; ++i) {
        const Status done = own->transact(Access::kWrite, increment);
        EXPECT_TRUE(done) << done.error().to_string();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), kThreads * kEach);
}

TEST_P(DatabaseTest, OneConnectionServesManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(database_->transact(Access::kWrite, increment));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), 80);
}

TEST_P(DatabaseTest, AWriterKilledInsideItsTransactionLeavesNothingAndHoldsNobodyUp) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = open();
    (void)own->transact(Access::kWrite, [&](Transaction& transaction) -> Status {
      RETURN_IF_ERROR(increment(transaction));
      ::kill(::getpid(), SIGKILL);
      return {};
    });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), 0);
  EXPECT_TRUE(database_->transact(Access::kWrite, increment));
  EXPECT_EQ(number(*database_, "SELECT value FROM counter"), 1);
}

// --- the schema's steps

const Migration kFirst = {"CREATE TABLE things (name TEXT NOT NULL)", "INSERT INTO things VALUES ('first')"};
const Migration kSecond = {"ALTER TABLE things ADD COLUMN number BIGINT NOT NULL DEFAULT 7"};

TEST_P(DatabaseTest, MigrationsAreAppliedOnceAndInOrder) {
  ASSERT_TRUE(migrate(*database_, std::array{kFirst}));
  ASSERT_TRUE(migrate(*database_, std::array{kFirst}));
  EXPECT_EQ(number(*database_, "SELECT count(*) FROM things"), 1);
  ASSERT_TRUE(migrate(*database_, std::array{kFirst, kSecond}));
  EXPECT_EQ(number(*database_, "SELECT number FROM things"), 7);
}

TEST_P(DatabaseTest, ASchemaNewerThanTheProgramIsRefused) {
  ASSERT_TRUE(migrate(*database_, std::array{kFirst, kSecond}));
  const Status refused = migrate(*database_, std::array{kFirst});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(refused.error().hint(), HasSubstr("newer version"));
}

TEST_P(DatabaseTest, AFailedStepLeavesTheOneBefore) {
  const Migration broken = {"CREATE TABLE half (name TEXT)", "THIS IS NO STATEMENT"};
  ASSERT_FALSE(migrate(*database_, std::array{kFirst, broken}));
  ASSERT_TRUE(migrate(*database_, std::array{kFirst, kSecond}));
  EXPECT_EQ(number(*database_, "SELECT number FROM things"), 7);
}

TEST_P(DatabaseTest, ManyProgramsMayMigrateAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto own = open();
      const Status migrated = migrate(*own, std::array{kFirst, kSecond});
      EXPECT_TRUE(migrated) << migrated.error().to_string();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number(*database_, "SELECT count(*) FROM things"), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, DatabaseTest, testing::ValuesIn(database_kinds()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cofferdam::store
