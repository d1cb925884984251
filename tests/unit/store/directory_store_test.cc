// What only the directory promises: modes, durability's order as far as it shows, dead writers, full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "object_places.h"
#include "store/object_store.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DirectoryStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(directory_);
    path_ = directory_->path() + "/state/objects";
    store_ = reopen();
  }

  std::unique_ptr<ObjectStore> reopen() {
    auto store = open_directory_store(path_);
    EXPECT_TRUE(store) << store.error().to_string();
    return store ? std::move(*store) : nullptr;
  }

  std::vector<std::string> temporary_files() {
    const auto directory = system::open_directory(path_ + "/TMP");
    return directory ? system::names_in(directory->get()).value_or(std::vector<std::string>{"?"})
                     : std::vector<std::string>{"?"};
  }

  unsigned mode_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  Result<system::TemporaryDirectory> directory_ = system::TemporaryDirectory::create(testing::TempDir(), "store-");
  std::string path_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(DirectoryStoreTest, OnlyItsOwnerCanReadIt) {
  const mode_t old = ::umask(0);
  ASSERT_TRUE(put_object(*store_, "packs/ab/one", "x"));
  ::umask(old);
  EXPECT_EQ(mode_of(path_), 0700U);
  EXPECT_EQ(mode_of(path_ + "/TMP"), 0700U);
  EXPECT_EQ(mode_of(path_ + "/packs/ab"), 0700U);
  EXPECT_EQ(mode_of(path_ + "/packs/ab/one"), 0600U);
}

TEST_F(DirectoryStoreTest, LeavesNothingBesideWhatWasCommitted) {
  ASSERT_TRUE(put_object(*store_, "one", "x"));
  ASSERT_TRUE(store_->create("given-up"));
  EXPECT_THAT(temporary_files(), IsEmpty());
}

TEST_F(DirectoryStoreTest, SweepsWhatADeadWriterLeftAndKeepsWhatALivingOneWrites) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = store_->create("never");
    if (writer) (void)(*writer)->append("half");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  auto living = store_->create("living");
  ASSERT_TRUE(living);
  ASSERT_TRUE((*living)->append("whole"));
  EXPECT_THAT(temporary_files(), SizeIs(2));
  const auto second = reopen();
  EXPECT_THAT(temporary_files(), SizeIs(1));
  EXPECT_TRUE((*living)->commit());
  EXPECT_EQ(second->read("living", 0, 5).value_or(""), "whole");
  EXPECT_EQ(second->size("never").error().code(), ErrorCode::kNotFound);
}

TEST_F(DirectoryStoreTest, WritersAndSweepsAtOnceLoseNothing) {
  std::atomic<bool> stop = false;
  std::thread sweeper([&] {
    while (!stop) reopen();
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 40; ++i) {
        const Status put = put_object(*store_, "w" + std::to_string(w) + "/" + std::to_string(i), "content");
        EXPECT_TRUE(put) << put.error().to_string();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  sweeper.join();
  EXPECT_THAT(store_->list("", "", 1000).value_or(std::vector<ObjectInfo>{}), SizeIs(120));
}

TEST_F(DirectoryStoreTest, OneOfManyWritersOfANameWins) {
  std::atomic<int> won = 0;
  std::vector<std::thread> writers;
  for (int w = 0; w < 6; ++w) {
    writers.emplace_back([&, w] {
      const Status put = put_object(*store_, "same", std::string(1000, static_cast<char>('a' + w)));
      if (put) ++won;
      if (!put) EXPECT_EQ(put.error().code(), ErrorCode::kAlreadyExists);
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(won, 1);
  EXPECT_THAT(temporary_files(), IsEmpty());
}

TEST_F(DirectoryStoreTest, ALinkPutInTheWayLeadsNowhere) {
  ASSERT_EQ(::symlink("/etc", (path_ + "/packs").c_str()), 0);
  EXPECT_FALSE(put_object(*store_, "packs/passwd", "x"));
  EXPECT_FALSE(store_->read("packs/passwd", 0, 1));
  ASSERT_EQ(::symlink("/etc/passwd", (path_ + "/linked").c_str()), 0);
  EXPECT_FALSE(store_->read("linked", 0, 1));
  EXPECT_EQ(put_object(*store_, "linked", "x").error().code(), ErrorCode::kAlreadyExists);
  EXPECT_THAT(store_->list("", "", 10).value_or(std::vector<ObjectInfo>(1)), IsEmpty());
}

TEST_F(DirectoryStoreTest, AFullDiskIsNamedWithTheFile) {
  const std::string mount_point = directory_->path() + "/small";
  ASSERT_TRUE(system::make_private_directories(mount_point));
  if (::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "mounting needs root";
  {
    auto store = open_directory_store(mount_point);
    ASSERT_TRUE(store);
    ASSERT_TRUE(put_object(**store, "fits", std::string(50'000, 'x')));
    auto writer = (*store)->create("packs/too-large");
    ASSERT_TRUE(writer);
    const Status full = (*writer)->append(std::string(1'000'000, 'x'));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(full.error().to_string(), HasSubstr(mount_point + "/packs/too-large"));
    EXPECT_THAT(full.error().hint(), HasSubstr("Free space"));
    EXPECT_FALSE((*writer)->commit());
    writer->reset();
    EXPECT_TRUE(put_object(**store, "fits-too", std::string(50'000, 'x')));
    EXPECT_EQ((*store)->size("fits").value_or(0), 50'000U);
  }
  EXPECT_EQ(::umount(mount_point.c_str()), 0);
}

}  // namespace
}  // namespace cofferdam::store
