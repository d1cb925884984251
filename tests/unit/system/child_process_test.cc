#include "system/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "system/file.h"

namespace cofferdam::system {
namespace {

struct Pipe {
  UniqueFd read, write;
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
};

std::string output_of(SpawnRequest request) {
  Pipe pipe;
  request.descriptors = {-1, pipe.write.get(), -1};
  auto child = ChildProcess::spawn(request);
  pipe.write.reset();
  EXPECT_TRUE(child) << child.error().to_string();
  return read_up_to(pipe.read.get(), 65536).value_or("");
}

SpawnRequest shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}};
}

TEST(ChildProcessTest, TellsExitCodeAndSignalApart) {
  auto exited = ChildProcess::spawn(shell("exit 7"));
  ASSERT_TRUE(exited);
  const auto status = exited->wait();
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->signalled);
  EXPECT_EQ(status->value, 7);

  auto killed = ChildProcess::spawn(shell("kill -KILL $$"));
  ASSERT_TRUE(killed);
  const auto signal = killed->wait();
  ASSERT_TRUE(signal);
  EXPECT_TRUE(signal->signalled);
  EXPECT_EQ(signal->value, SIGKILL);
}

TEST(ChildProcessTest, ReportsAProgramThatCannotBeExecuted) {
  const auto missing = ChildProcess::spawn({.program = "/no/such/program", .arguments = {"x"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
}

TEST(ChildProcessTest, GivesOnlyTheNamedDescriptorsAndVariables) {
  const UniqueFd stray(::open("/dev/null", O_RDONLY));  // without close-on-exec on purpose
  ASSERT_GE(stray.get(), 0);
  EXPECT_EQ(output_of(shell("for n in 3 4 5 6 7 8 9 10 20; do [ ! -e /proc/$$/fd/$n ] || echo open: $n; done; "
                            "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD=")),
            "PATH=/usr/bin:/bin\n");
}

TEST(ChildProcessTest, PutsEveryDescriptorAtItsPlaceWhateverTheOrder) {
  Pipe first;
  Pipe second;
  SpawnRequest request = shell("echo one >&3; echo two >&4");
  // The child's 3 is our higher descriptor and its 4 the lower one: a naive dup2 would overwrite one of them.
  request.descriptors = {-1, -1, -1, second.write.get(), first.write.get()};
  auto child = ChildProcess::spawn(request);
  ASSERT_TRUE(child);
  first.write.reset();
  second.write.reset();
  EXPECT_EQ(read_up_to(second.read.get(), 100).value_or(""), "one\n");
  EXPECT_EQ(read_up_to(first.read.get(), 100).value_or(""), "two\n");
}

TEST(ChildProcessTest, KillsWhatIsStillOwnedAtDestruction) {
  pid_t pid = -1;
  {
    auto child = ChildProcess::spawn(shell("sleep 60"));
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1) << "the child was reaped";
}

TEST(ChildProcessTest, PidfdBecomesReadableAtTheEnd) {
  auto child = ChildProcess::spawn(shell("exit 0"));
  ASSERT_TRUE(child);
  pollfd entry{.fd = child->pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&entry, 1, 10000), 1);
  const auto status = child->try_wait();
  ASSERT_TRUE(status);
  ASSERT_TRUE(status->has_value());
}

TEST(ChildProcessTest, ManyThreadsGetTheirOwnStatuses) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int round = 0; round < 25; ++round) {
        auto child = ChildProcess::spawn(shell("exit " + std::to_string(thread + 10)));
        ASSERT_TRUE(child);
        const auto status = child->wait();
        ASSERT_TRUE(status);
        EXPECT_EQ(status->value, thread + 10);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FileTest, ReadFileRefusesMoreThanItsBound) {
  std::string path = "/tmp/cofferdam-file-test.XXXXXX";
  const UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  ASSERT_TRUE(write_all(file.get(), "12345", "five"));
  EXPECT_EQ(read_file(path, 5).value_or(""), "12345");
  const auto refused = read_file(path, 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kResourceExhausted);
  ::unlink(path.c_str());
}

TEST(FileTest, ReplaceFileLeavesNoTemporaryFileOnFailure) {
  const auto status = replace_file("/proc/no-such-place/file", "text", 0600);
  EXPECT_FALSE(status);
}

}  // namespace
}  // namespace cofferdam::system
