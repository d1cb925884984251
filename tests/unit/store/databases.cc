#include "databases.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace cofferdam::store {
namespace {

constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin/";
constexpr auto kLongestStart = std::chrono::seconds(5);
constexpr auto kPause = std::chrono::milliseconds(20);

class SqliteFile final : public TestDatabase {
 public:
  std::string url() const override { return "sqlite:" + path(); }
  Result<std::unique_ptr<Database>> open() const override { return open_sqlite(path()); }

 private:
  std::string path() const { return directory_->path() + "/state/catalog.sqlite"; }
  Result<system::TemporaryDirectory> directory_ = system::TemporaryDirectory::create(testing::TempDir(), "catalog-");
};

class PostgresDatabaseOfTest final : public TestDatabase {
 public:
  PostgresDatabaseOfTest() {
    if (!missing().empty()) return;
    auto server = PostgresServer::start();
    EXPECT_TRUE(server) << server.error().to_string();
    if (server) server_ = std::move(*server);
  }
  std::string missing() const override { return PostgresServer::missing(); }
  std::string url() const override { return server_ == nullptr ? "" : server_->url(); }
  Result<std::unique_ptr<Database>> open() const override { return open_postgres(url()); }

 private:
  std::unique_ptr<PostgresServer> server_;
};

// PostgreSQL refuses to run as root. The server ends when the test does, however that ends.
system::SpawnRequest as_ordinary_user(std::vector<std::string> command) {
  std::vector<std::string> words = {"setpriv", "--pdeathsig", "INT"};
  if (::geteuid() == 0) words.insert(words.end(), {"--reuid=postgres", "--regid=postgres", "--clear-groups"});
  words.insert(words.end(), command.begin(), command.end());
  return {.program = "/usr/bin/setpriv",
          .arguments = words,
          .environment = {"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"},
          .working_directory = "/"};
}

Status run(const system::SpawnRequest& request) {
  ASSIGN_OR_RETURN(system::ChildProcess child, system::ChildProcess::spawn(request));
  ASSIGN_OR_RETURN(const system::ExitStatus status, child.wait());
  if (!status.signalled && status.value == 0) return {};
  return Error(ErrorCode::kInternal, request.arguments.back() + " failed: " + std::to_string(status.value));
}

Status run_shell(const std::string& script) {
  return run({.program = "/bin/sh", .arguments = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}});
}

// A cluster made once and copied for every test: making one takes seconds.
std::string template_directory() {
  const char* const cache = std::getenv("COFFERDAM_CACHE");
  const char* const home = std::getenv("HOME");
  const std::string root =
      cache != nullptr ? cache : std::string(home == nullptr ? "/tmp" : home) + "/.cache/cofferdam";
  return root + "/test-postgres-15-" + std::to_string(::geteuid());
}

Status make_template(const std::string& scratch) {
  const std::string made = template_directory();
  if (::access(made.c_str(), F_OK) == 0) return {};
  RETURN_IF_ERROR(
      run(as_ordinary_user({std::string(kPrograms) + "initdb", "--no-sync", "--wal-segsize=1", "--auth=trust",
                            "--encoding=UTF8", "--locale=C.UTF-8", "--username=cofferdam", "--pgdata=" + scratch})));
  // Two tests may get here at once: whole copies, and the first one stays.
  const std::string mine = made + "." + std::to_string(::getpid());
  return run_shell("mkdir -p \"$(dirname '" + made + "')\" && cp -a '" + scratch + "' '" + mine + "' && { mv -T -n '" +
                   mine + "' '" + made + "'; rm -rf '" + mine + "' '" + scratch + "'; }");
}

}  // namespace

std::vector<DatabaseKind> database_kinds() {
  return {DatabaseKind::kSqlite, DatabaseKind::kPostgres};
}

const char* name_of(DatabaseKind kind) {
  return kind == DatabaseKind::kSqlite ? "Sqlite" : "Postgres";
}

std::unique_ptr<TestDatabase> TestDatabase::make(DatabaseKind kind) {
  if (kind == DatabaseKind::kSqlite) return std::make_unique<SqliteFile>();
  return std::make_unique<PostgresDatabaseOfTest>();
}

std::string PostgresServer::missing() {
  const bool there = ::access((std::string(kPrograms) + "postgres").c_str(), X_OK) == 0;
  return there ? "" : "the package postgresql-15 is not installed";
}

Result<std::unique_ptr<PostgresServer>> PostgresServer::start() {
  // Short: a socket's name has 107 bytes.
  ASSIGN_OR_RETURN(system::TemporaryDirectory folder, system::TemporaryDirectory::create("/tmp", "cfd-pg-"));
  std::unique_ptr<PostgresServer> server(new PostgresServer(std::move(folder)));
  RETURN_IF_ERROR(server->make_cluster());
  RETURN_IF_ERROR(server->start_again());
  return server;
}

Status PostgresServer::make_cluster() {
  const std::string data = folder_.path() + "/data";
  if (::geteuid() == 0) RETURN_IF_ERROR(run_shell("chown postgres:postgres '" + folder_.path() + "'"));
  RETURN_IF_ERROR(make_template(folder_.path() + "/new"));
  return run_shell("cp -a '" + template_directory() + "' '" + data + "'");
}

std::string PostgresServer::url(const std::string& user_and_password) const {
  return "postgresql://" + user_and_password + "@/postgres?host=" + folder_.path();
}

void PostgresServer::stop() {
  if (server_ == nullptr) return;
  server_->kill(SIGQUIT);
  (void)server_->wait();
  server_.reset();
}

Status PostgresServer::start_again() {
  ASSIGN_OR_RETURN(system::ChildProcess server,
                   system::ChildProcess::spawn(
                       as_ordinary_user({std::string(kPrograms) + "postgres", "-D", folder_.path() + "/data", "-k",
                                         folder_.path(), "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                                         "shared_buffers=16MB", "-c", "max_connections=20", "-c", "autovacuum=off"})));
  server_ = std::make_unique<system::ChildProcess>(std::move(server));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, open_postgres(url()));
  const auto deadline = std::chrono::steady_clock::now() + kLongestStart;
  while (true) {
    const Status reached = database->transact(Access::kRead, [](Transaction&) { return Status(); });
    ASSIGN_OR_RETURN(const auto ended, server_->try_wait());
    if (reached || ended || std::chrono::steady_clock::now() > deadline) return reached;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace cofferdam::store
