// What only a database in a file promises: its mode, its durability settings, its honesty about damage.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/catalog.h"
#include "store/database.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::store {
namespace {

using testing::HasSubstr;
using testing::Not;

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(directory_);
    path_ = directory_->path() + "/state/catalog.sqlite";
  }

  static std::string setting(Database& database, const std::string& name) {
    std::string value;
    const Status asked = database.transact(Access::kRead, [&](Transaction& transaction) -> Status {
      ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.run("SELECT CAST(" + name + " AS TEXT)"));
      value = rows.at(0).text(0);
      return {};
    });
    EXPECT_TRUE(asked) << asked.error().to_string();
    return value;
  }

  unsigned mode_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  Result<system::TemporaryDirectory> directory_ = system::TemporaryDirectory::create(testing::TempDir(), "sqlite-");
  std::string path_;
};

TEST_F(SqliteTest, OnlyItsOwnerCanReadIt) {
  const mode_t old = ::umask(0);
  const auto catalog = open_catalog(path_);
  ::umask(old);
  ASSERT_TRUE(catalog) << catalog.error().to_string();
  EXPECT_EQ(mode_of(path_), 0600U);
  EXPECT_EQ(mode_of(path_ + "-wal"), 0600U);
  EXPECT_EQ(mode_of(directory_->path() + "/state"), 0700U);
}

TEST_F(SqliteTest, CommitsAreSynchronisedAndReferencesChecked) {
  const auto database = open_sqlite(path_);
  ASSERT_TRUE(database);
  EXPECT_EQ(setting(**database, "(SELECT journal_mode FROM pragma_journal_mode)"), "wal");
  EXPECT_EQ(setting(**database, "(SELECT synchronous FROM pragma_synchronous)"), "2");
  EXPECT_EQ(setting(**database, "(SELECT foreign_keys FROM pragma_foreign_keys)"), "1");
}

TEST_F(SqliteTest, AFileThatIsNoDatabaseIsDataLoss) {
  ASSERT_TRUE(system::make_private_directories(directory_->path() + "/state"));
  ASSERT_TRUE(system::replace_file(path_, std::string(8192, 'x'), 0600));
  const auto catalog = open_catalog(path_);
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code(), ErrorCode::kDataLoss);
  EXPECT_THAT(catalog.error().to_string(), HasSubstr(path_));
}

TEST_F(SqliteTest, CheckFindsDamage) {
  {
    ASSERT_TRUE(open_catalog(path_));
  }
  std::string content = *system::read_file(path_, 1 << 20);
  // An index that holds less than its table: one entry of the schema's own index is cut off.
  const std::size_t at = content.size() - 4096;
  for (std::size_t i = at; i < at + 100; ++i) content[i] = '\x55';
  ASSERT_TRUE(system::replace_file(path_, content, 0600));
  const auto catalog = open_catalog(path_);
  const Status checked = catalog ? (*catalog)->check() : Status(catalog.error());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::kDataLoss) << checked.error().to_string();
}

TEST_F(SqliteTest, AnErasedKeyIsNowhereInTheFiles) {
  const std::string secret = "the wrapped key of the company that goes";
  const auto catalog = open_catalog(path_);
  ASSERT_TRUE((*catalog)->add_company_key(
      {.company = "acme", .id = "k1", .master_key_id = "m", .wrapped = secret, .created_ms = 1}, ""));
  ASSERT_TRUE((*catalog)->erase_company("acme"));
  for (const char* const suffix : {"", "-wal"}) {
    EXPECT_THAT(system::read_file(path_ + suffix, 1 << 24).value_or(secret), Not(HasSubstr(secret))) << suffix;
  }
}

TEST_F(SqliteTest, ADirectoryThatCannotBeWrittenIsNamed) {
  const auto catalog = open_catalog("/proc/nowhere/catalog.sqlite");
  ASSERT_FALSE(catalog);
  EXPECT_THAT(catalog.error().to_string(), HasSubstr("/proc/nowhere"));
}

TEST_F(SqliteTest, ABusyDatabaseIsUnavailableAndCanBeTriedLater) {
  const auto one = open_sqlite(path_);
  const auto two = open_sqlite(path_);
  ASSERT_TRUE((*two)->transact(Access::kWrite, [](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(transaction.run("PRAGMA busy_timeout = 10"));
    return {};
  }));
  ASSERT_TRUE((*one)->transact(Access::kWrite, [&](Transaction&) -> Status {
    const Status busy = (*two)->transact(Access::kWrite, [](Transaction&) { return Status(); });
    EXPECT_FALSE(busy);
    EXPECT_EQ(busy.error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(busy.error().retry(), RetryClass::kLater);
    return {};
  }));
}

}  // namespace
}  // namespace cofferdam::store
