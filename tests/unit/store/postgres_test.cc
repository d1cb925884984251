// What only a server can do to its users: go away, come back, ask for a password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "databases.h"
#include "store/catalog.h"
#include "store/postgres_url.h"

namespace cofferdam::store {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty()) GTEST_SKIP() << PostgresServer::missing();
    auto server = PostgresServer::start();
    ASSERT_TRUE(server) << server.error().to_string();
    server_ = std::move(*server);
    auto database = open_postgres(server_->url());
    ASSERT_TRUE(database);
    database_ = std::move(*database);
  }

  static Status run(Database& database, const std::string& sql, Access access = Access::kWrite) {
    return database.transact(access, [&](Transaction& transaction) -> Status {
      RETURN_IF_ERROR(transaction.run(sql));
      return {};
    });
  }

  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<Database> database_;
};

TEST_F(PostgresTest, AServerThatIsAwayIsUnavailableAndItsReturnIsNoticed) {
  ASSERT_TRUE(run(*database_, "CREATE TABLE things (n BIGINT)"));
  server_->stop();
  const Status away = run(*database_, "INSERT INTO things VALUES (1)");
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code(), ErrorCode::kUnavailable) << away.error().to_string();
  EXPECT_EQ(away.error().retry(), RetryClass::kLater);
  ASSERT_TRUE(server_->start_again());
  const Status after = run(*database_, "INSERT INTO things VALUES (1)");
  EXPECT_TRUE(after) << after.error().to_string();
}

TEST_F(PostgresTest, AConnectionLostWhileItIdledIsMadeAgainUnnoticed) {
  ASSERT_TRUE(run(*database_, "CREATE TABLE things (n BIGINT)"));
  server_->stop();
  ASSERT_TRUE(server_->start_again());
  const Status after = run(*database_, "INSERT INTO things VALUES (1)");
  EXPECT_TRUE(after) << after.error().to_string();
}

TEST_F(PostgresTest, AConnectionLostInsideATransactionIsTold) {
  ASSERT_TRUE(run(*database_, "CREATE TABLE things (n BIGINT)"));
  int runs = 0;
  const Status lost = database_->transact(Access::kWrite, [&](Transaction& transaction) -> Status {
    ++runs;
    RETURN_IF_ERROR(transaction.run("INSERT INTO things VALUES (1)"));
    const auto other = open_postgres(server_->url());
    RETURN_IF_ERROR(run(**other,
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"));
    RETURN_IF_ERROR(transaction.run("INSERT INTO things VALUES (2)"));
    return {};
  });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), ErrorCode::kUnavailable) << lost.error().to_string();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(run(*database_, "INSERT INTO things VALUES (3)"));
  ASSERT_TRUE(database_->transact(Access::kRead, [](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT n FROM things"));
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.at(0).number(0), 3);
    return {};
  }));
}

TEST_F(PostgresTest, ReadingChangesNothing) {
  ASSERT_TRUE(run(*database_, "CREATE TABLE things (n BIGINT)"));
  EXPECT_FALSE(run(*database_, "INSERT INTO things VALUES (1)", Access::kRead));
}

TEST_F(PostgresTest, AFailedStatementThatWasOverlookedIsNotCommitted) {
  EXPECT_FALSE(database_->transact(Access::kWrite, [](Transaction& transaction) -> Status {
    (void)transaction.run("SELECT 1 FROM nowhere");
    return {};
  }));
}

TEST_F(PostgresTest, ConflictsEndAfterABoundedNumberOfTries) {
  int runs = 0;
  const Status conflict = database_->transact(Access::kWrite, [&](Transaction& transaction) -> Status {
    ++runs;
    RETURN_IF_ERROR(transaction.run("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$"));
    return {};
  });
  EXPECT_EQ(conflict.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(runs, 30);
}

TEST_F(PostgresTest, ADatabaseWithLazyCommitsIsToldToWaitForTheDisk) {
  ASSERT_TRUE(run(*database_, "ALTER ROLE cofferdam SET synchronous_commit = off"));
  const auto again = open_postgres(server_->url());
  ASSERT_TRUE((*again)->transact(Access::kRead, [](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT current_setting('synchronous_commit')"));
    EXPECT_EQ(rows.at(0).text(0), "on");
    return {};
  }));
}

TEST_F(PostgresTest, TheCatalogsSchemaIsRefusedWhenItIsNewer) {
  ASSERT_TRUE(open_catalog(server_->url()));
  ASSERT_TRUE(run(*database_, "INSERT INTO schema_migrations VALUES ('store', 999)"));
  EXPECT_EQ(open_catalog(server_->url()).error().code(), ErrorCode::kFailedPrecondition);
}

TEST_F(PostgresTest, AServerThatIsNotThereNamesNoPassword) {
  const auto catalog = open_catalog("postgresql://user:hush-hush@localhost:1/db");
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(catalog.error().to_string(), Not(HasSubstr("hush")));
  EXPECT_THAT(catalog.error().to_string(), HasSubstr("localhost"));
}

TEST(PostgresUrlTest, IsDescribedWithoutItsPassword) {
  EXPECT_EQ(describe_postgres_url("postgresql://user:hush@db.example:5433/store?sslmode=require").value_or(""),
            "PostgreSQL database store on db.example");
  EXPECT_EQ(describe_postgres_url("postgresql:///store").value_or(""), "PostgreSQL database store");
}

TEST(PostgresUrlTest, APasswordThatWouldShowAsSomethingElseIsRefusedWithoutAWordOfIt) {
  for (const char* url :
       {"postgresql://user:hu@sh@host/db", "postgresql://user:hush/x@host/db", "postgresql://host/db?hush=1",
        "postgresql://[hush/db", "postgresql://user:%zzhush@host/db"}) {
    const auto described = describe_postgres_url(url);
    ASSERT_FALSE(described) << url << ": " << *described;
    EXPECT_EQ(described.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(described.error().to_string() + described.error().hint(), Not(HasSubstr("sh")))
        << described.error().to_string();
  }
}

}  // namespace
}  // namespace cofferdam::store
