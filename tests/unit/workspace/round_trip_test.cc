// The way there and home again, over an archive, as a whole: what the pieces promise each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <functional>
#include <thread>

#include "merge_model.h"
#include "tree_model.h"
#include "workspace/archive_writer.h"
#include "workspace/baseline.h"
#include "workspace/extract.h"
#include "workspace/inventory.h"
#include "workspace/merge_apply.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COFFERDAM_TEST_MEMORY_IS_INFLATED 1
#endif
#endif

namespace cofferdam::workspace {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;

std::string archive_of(int root, ArchiveReport* report = nullptr) {
  std::string bytes;
  auto made = write_archive(root, {}, [&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(made);
  if (report != nullptr && made) *report = std::move(*made);
  return bytes;
}

// A host's workspace, a sandbox that gets it as an archive, and the archive that comes home.
class RoundTrip {
 public:
  explicit RoundTrip(const Tree& tree) {
    write_tree(host(), tree);
    ArchiveReport report;
    const std::string archive = archive_of(host_.fd(), &report);
    // The record outlives the process.
    base_ = parse_baseline(to_json({.exclude = {}, .entries = report.sent.entries}))->entries;
    // The sandbox's own tar makes what it is sent, links that lead out too: so does this.
    write_tree(sandbox(), tree);
  }

  const std::string& host() const { return host_.path(); }
  const std::string& sandbox() const { return sandbox_.path(); }

  // What comes home is merged; everything that the plan says.
  MergePlan come_home() {
    const auto home = scratch_directory("home-");
    ExtractOptions options;
    options.rules.unconfined_links = LinkPolicy::kRecord;
    options.rules.mask_special_modes = true;
    const std::string archive = archive_of(sandbox_.fd());
    const auto theirs = extract_archive(source_of(archive), home.fd(), options);
    EXPECT_TRUE(theirs) << theirs.error().to_string();
    const auto ours = take_inventory(host_.fd(), {});
    EXPECT_TRUE(ours);
    const auto plan = plan_merge(base_, theirs->inventory, *ours, {.run_id = "run"});
    EXPECT_TRUE(plan);
    const auto merged = apply_merge({home.fd(), host_.fd(), journal_.path() + "/j", nullptr}, *plan);
    EXPECT_TRUE(merged) << merged.error().to_string();
    return *plan;
  }

 private:
  system::TemporaryDirectory host_ = scratch_directory("host-");
  system::TemporaryDirectory sandbox_ = scratch_directory("sandbox-");
  system::TemporaryDirectory journal_ = scratch_directory("journal-");
  std::vector<Entry> base_;
};

// Each of these was lost or changed by an implementation that came before.
Tree troublesome_tree() {
  return {{"proj", folder()},
          {"proj/.git", folder()},
          {"proj/.git/HEAD", file("ref: refs/heads/main\n")},
          {"proj/.git/objects", folder()},
          {"sub", folder()},
          {"sub/.git", file("gitdir: ../.git/modules/sub\n")},
          {"sub/secret.txt", file("tracked, like an ignored one at the root")},
          {"secret.txt", file("ignored")},
          {"*.keep", file("glob")},
          {"a.keep", file("not a glob")},
          {"._apple", file("double")},
          {"vendor", folder()},
          {"vendor/lib.c", file("c")},
          {"empty", folder()},
          {"absolute", symlink_to("/usr/bin/python3")},
          {"outside", symlink_to("../elsewhere")},
          {"dangling", symlink_to("nothing")},
          {"set-user-id", file("s", 04755)},
          {"shared", folder(02775)},
          {"closed", folder(0555)},
          {"closed/x", file("x", 0444)},
          {"new\nline", file("n")},
          {"\xff", file("b")}};
}

TEST(RoundTripTest, WithoutActivityNothingChangesOnTheHost) {
  RoundTrip trip(troublesome_tree());
  ASSERT_EQ(::mkfifo((trip.host() + "/fifo").c_str(), 0600), 0);
  write_tree(trip.host(), {{"made-later", file("while the agent worked")}});
  const std::string before = to_text(read_tree(trip.host()));
  const MergePlan plan = trip.come_home();
  EXPECT_TRUE(plan.changes_nothing());
  EXPECT_EQ(to_text(read_tree(trip.host())), before);
  EXPECT_EQ(::access((trip.host() + "/fifo").c_str(), F_OK), 0);
}

TEST(RoundTripTest, WhatTheAgentDidComesHomeAndWhatItMustNotDoesNot) {
  RoundTrip trip(troublesome_tree());
  const UniqueFd sandbox = std::move(*system::open_directory(trip.sandbox()));
  ASSERT_TRUE(system::replace_file(trip.sandbox() + "/vendor/lib.c", "edited", 0644));
  ASSERT_TRUE(system::replace_file(trip.sandbox() + "/._agent", "new", 0644));
  ASSERT_TRUE(system::replace_file(trip.sandbox() + "/a.keep", "planted", 06755));
  ASSERT_EQ(::chmod((trip.sandbox() + "/a.keep").c_str(), 06755), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (trip.sandbox() + "/evil").c_str()), 0);
  ASSERT_EQ(::symlink("../../up", (trip.sandbox() + "/proj/up").c_str()), 0);
  ASSERT_TRUE(system::remove_tree_at(sandbox.get(), "secret.txt"));
  ASSERT_EQ(::mkfifo((trip.sandbox() + "/pipe").c_str(), 0600), 0);
  const MergePlan plan = trip.come_home();
  Tree expected = troublesome_tree();
  expected["vendor/lib.c"] = file("edited");
  expected["._agent"] = file("new");
  expected["a.keep"] = file("planted", 0755);
  expected.erase("secret.txt");
  EXPECT_EQ(to_text(read_tree(trip.host())), to_text(expected));
  EXPECT_EQ(plan.counts.refused, 2U);
}

TEST(RoundTripTest, TheRecordOfTheArchiveIsTheInventoryOfTheTree) {
  const auto host = scratch_directory("host-");
  write_tree(host.path(), troublesome_tree());
  ArchiveReport report;
  (void)archive_of(host.fd(), &report);
  const auto inventory = take_inventory(host.fd(), {});
  ASSERT_TRUE(inventory);
  EXPECT_EQ(fingerprint_of(report.sent.entries), fingerprint_of(inventory->entries));
  EXPECT_EQ(report.sent.stripped_modes, inventory->stripped_modes);
}

// How much more memory this process has ever had after `work` than before, in MiB; measured in a child.
int growth_in_a_child(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    const bool good = work();
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    ::_exit(good ? static_cast<int>(std::min(254L, (after.ru_maxrss - before.ru_maxrss) >> 10)) : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(RoundTripTest, MemoryStaysBoundedWhateverTheTreeHolds) {
#ifdef COFFERDAM_TEST_MEMORY_IS_INFLATED
  GTEST_SKIP() << "a sanitizer keeps memory for itself";
#endif
  const auto host = scratch_directory("host-");
  for (int count = 0; count < 2000; ++count) {
    const std::string path = host.path() + "/" + std::to_string(count);
    const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(::ftruncate(out.get(), count == 0 ? 512 << 20 : 120 << 10), 0);
  }
  EXPECT_LT(growth_in_a_child([&] {
              return write_archive(host.fd(), {.threads = 4}, [](std::string_view) { return Status(); }).has_value();
            }),
            64);
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const UniqueFd read_end(pipe[0]);
  UniqueFd write_end(pipe[1]);
  std::thread writer([&] {
    (void)write_archive(host.fd(), {}, sink_to(write_end.get()));
    write_end.reset();
  });
  const auto seen = inspect_archive(source_of(read_end.get()), {});
  writer.join();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->inventory.entries.size(), 2000U);
}

}  // namespace
}  // namespace cofferdam::workspace
