#include "workspace/workspace_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>
#include <vector>

#include "crypto/sha256.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::workspace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class WorkspaceLockTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkdir(target().c_str(), 0700), 0); }

  std::string target() const { return directory_.path() + "/target"; }
  std::string instance() const { return directory_.path() + "/instance"; }
  std::string lock_root() const { return instance() + "/locks/directory-merge"; }
  std::string lock_path() const {
    const std::unique_ptr<char, decltype(&::free)> real(::realpath(target().c_str(), nullptr), &::free);
    return lock_root() + "/" + crypto::sha256(real.get()).hex() + ".lock";
  }
  WorkspaceLockOptions options(std::chrono::milliseconds wait = 100ms) const {
    return {.instance_root = instance(), .wait = wait, .poll = 5ms};
  }
  void make_lock(const std::string& owner) const {
    ASSERT_TRUE(system::make_private_directories(lock_path()));
    if (!owner.empty()) ASSERT_TRUE(system::replace_file(lock_path() + "/owner.json", owner, 0600));
  }
  void make_old(std::chrono::seconds age) const {
    timespec times[2] = {{.tv_sec = ::time(nullptr) - age.count(), .tv_nsec = 0},
                         {.tv_sec = ::time(nullptr) - age.count(), .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, lock_path().c_str(), times, 0), 0);
  }

  system::TemporaryDirectory directory_ = system::TemporaryDirectory::create(::testing::TempDir(), "lock-").value();
};

pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(WorkspaceLockTest, LiesWherePaperclipLooksForIt) {
  {
    const auto lock = WorkspaceLock::acquire(target(), options());
    ASSERT_TRUE(lock) << lock.error().to_string();
    EXPECT_THAT(system::read_file(lock_path() + "/owner.json", 1000).value_or(""),
                MatchesRegex("\\{\"pid\":" + std::to_string(::getpid()) +
                             ",\"createdAt\":\"20..-..-..T..:..:..\\....Z\"\\}\n"));
    struct stat status{};
    ASSERT_EQ(::stat(lock_root().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
  }
  const auto root = system::open_directory(lock_root());
  EXPECT_THAT(*system::names_in(root->get()), IsEmpty()) << "release removes the directory";
}

TEST_F(WorkspaceLockTest, AliasesOfOneDirectoryShareIt) {
  const std::string alias = directory_.path() + "/alias";
  ASSERT_EQ(::symlink(target().c_str(), alias.c_str()), 0);
  const auto held = WorkspaceLock::acquire(alias, options());
  ASSERT_TRUE(held);
  EXPECT_THAT(held->target(), Not(HasSubstr("alias")));
  const auto second = WorkspaceLock::acquire(target() + "/.", options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kTimedOut);
  EXPECT_EQ(second.error().message(), "Timed out waiting for workspace restore lock at " + lock_path());
  EXPECT_STREQ(restore_failure(second.error()).code, "restore_lock_timeout");
}

TEST_F(WorkspaceLockTest, TheTargetsParentNeedNotBeWritable) {
  const std::string parent = directory_.path() + "/readonly";
  ASSERT_TRUE(system::make_private_directories(parent + "/target"));
  ::chmod(parent.c_str(), 0555);
  EXPECT_TRUE(WorkspaceLock::acquire(parent + "/target", options()));
}

TEST_F(WorkspaceLockTest, TakesOverTheLockOfADeadProcess) {
  make_lock("{\"pid\":" + std::to_string(dead_process()) + ",\"createdAt\":\"2026-01-01T00:00:00.000Z\"}\n");
  EXPECT_TRUE(WorkspaceLock::acquire(target(), options()));
}

TEST_F(WorkspaceLockTest, WaitsForALivingOwnerHoweverOld) {
  make_lock("{ \"createdAt\": \"2020-01-01T00:00:00.000Z\", \"pid\" : " + std::to_string(::getpid()) + " }");
  make_old(std::chrono::hours(1));
  EXPECT_FALSE(WorkspaceLock::acquire(target(), options()));
}

TEST_F(WorkspaceLockTest, ALockWithoutOwnerIsStaleOnlyWhenOld) {
  make_lock("");
  EXPECT_FALSE(WorkspaceLock::acquire(target(), options())) << "its holder is about to write its record";
  make_old(31s);
  EXPECT_TRUE(WorkspaceLock::acquire(target(), options()));
}

TEST_F(WorkspaceLockTest, RefusesARootThatIsNoPlainDirectory) {
  ASSERT_TRUE(system::make_private_directories(instance() + "/locks"));
  ASSERT_EQ(::symlink(target().c_str(), lock_root().c_str()), 0);
  const auto linked = WorkspaceLock::acquire(target(), options());
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().message(), "Directory merge lock root at " + lock_root() + " is not a plain directory.");
  ::unlink(lock_root().c_str());
  ASSERT_TRUE(system::replace_file(lock_root(), "", 0600));
  EXPECT_FALSE(WorkspaceLock::acquire(target(), options()));
}

TEST_F(WorkspaceLockTest, ExcludesEveryOtherHolder) {
  std::atomic<int> inside = 0;
  std::atomic<int> together = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const auto lock = WorkspaceLock::acquire(target(), options(30s));
        ASSERT_TRUE(lock) << lock.error().to_string();
        if (++inside != 1) ++together;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 0);
}

TEST(PaperclipInstanceTest, FollowsTheCallersEnvironment) {
  const auto root = [](std::vector<std::pair<std::string, std::string>> variables) {
    return paperclip_instance_root([&](const char* name) -> std::optional<std::string> {
      for (const auto& [key, value] : variables) {
        if (key == name) return value;
      }
      return std::nullopt;
    });
  };
  EXPECT_EQ(*root({{"HOME", "/h"}}), std::nullopt);
  EXPECT_EQ(*root({{"PAPERCLIP_HOME", " /p "}, {"HOME", "/h"}}), "/p/instances/default");
  EXPECT_EQ(*root({{"PAPERCLIP_HOME", "~/p"}, {"PAPERCLIP_INSTANCE_ID", "i-1"}, {"HOME", "/h"}}), "/h/p/instances/i-1");
  EXPECT_EQ(*root({{"PAPERCLIP_INSTANCE_ID", "i"}, {"HOME", "/h"}}), "/h/.paperclip/instances/i");
  EXPECT_FALSE(root({{"PAPERCLIP_HOME", "/p"}, {"PAPERCLIP_INSTANCE_ID", "../x"}}));
}

TEST(RestoreFailureTest, TellsNoPathAndNoProcess) {
  EXPECT_STREQ(restore_failure(Error(ErrorCode::kPermissionDenied, "open /home/x")).text,
               "the restore could not write to the workspace (permission denied)");
  EXPECT_STREQ(restore_failure(Error(ErrorCode::kIo, "/home/x")).code, "restore_failed");
}

}  // namespace
}  // namespace cofferdam::workspace
