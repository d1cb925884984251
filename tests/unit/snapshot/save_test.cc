// Saves and restores on a real store in a scratch directory, ended at every step.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "snapshot/capture.h"
#include "snapshot/master_key.h"
#include "snapshot/pack_writer.h"
#include "snapshot/removal.h"
#include "snapshot/restore.h"
#include "snapshot/verify.h"

namespace cofferdam::snapshot {
namespace {

namespace fs = std::filesystem;

class SaveTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = system::TemporaryDirectory::create(fs::temp_directory_path(), "cofferdam-save-");
    ASSERT_TRUE(made);
    scratch_.emplace(std::move(*made));
    fs::create_directories(tree());
    write("file", "one");
    write("sub/file", std::string(5000, 'x'));
    write("long", std::string(3 << 20, 'l') + std::string(2 << 20, 'm'));
  }

  std::string tree() const { return scratch_->path() + "/tree"; }

  void write(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(tree() + "/" + path).parent_path());
    std::ofstream(tree() + "/" + path, std::ios::binary) << content;
  }

  SnapshotStore open_store() const {
    auto masters = load_master_keys({}, scratch_->path() + "/state/master.key", true);
    auto objects = store::open_directory_store(scratch_->path() + "/state/objects");
    auto catalog = store::open_catalog(scratch_->path() + "/state/catalog.sqlite");
    EXPECT_TRUE(masters && objects && catalog);
    return {std::move(*objects), std::move(*catalog), std::move(*masters)};
  }

  CaptureRequest request() const {
    return {.directory = tree(),
            .company = "default",
            .workspace = "path:" + tree(),
            .label = {},
            .writer = "test",
            .walk = {},
            .git_directory = {},
            .on_step = {}};
  }

  Result<RestoreReport> restore_to(const SnapshotStore& store, const std::string& id, const std::string& name) const {
    auto record = store.find("default", id);
    if (!record) return std::move(record.error());
    return restore(store, *record, {.target = scratch_->path() + "/" + name, .path = {}, .on_step = {}});
  }

  std::optional<system::TemporaryDirectory> scratch_;
};

// Every step of a save, in a child that dies there.
TEST_F(SaveTest, KilledAtEveryStepLosesNothing) {
  const std::string first = capture(open_store(), request())->snapshot;
  const std::vector<std::string> steps = {"begin",    "content", "packs",  "pins",
                                          "manifest", "seal",    "commit", "committed"};
  for (const std::string& step : steps) {
    write("file", "changed before " + step);
    const pid_t child = ::fork();
    if (child == 0) {
      CaptureRequest dying = request();
      dying.on_step = [&](std::string_view name) {
        if (name == step) ::_exit(42);
      };
      (void)capture(open_store(), dying);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 42) << step << " was not reached";

    const SnapshotStore store = open_store();
    const auto left = store.catalog().snapshots({.company = "default", .workspace = {}});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->size(), step == "committed" ? 2U : 1U) << step;
    const auto checked = verify(store, {.company = "default", .snapshot = {}});
    ASSERT_TRUE(checked) << checked.error().to_string();
    EXPECT_TRUE(checked->whole()) << step;
  }
  const SnapshotStore store = open_store();
  const auto after = capture(store, request());
  ASSERT_TRUE(after) << after.error().to_string();
  ASSERT_TRUE(restore_to(store, after->snapshot, "after"));
  ASSERT_TRUE(restore_to(store, first, "first"));
  std::ifstream restored(scratch_->path() + "/after/file");
  std::string line;
  std::getline(restored, line);
  EXPECT_EQ(line, "changed before committed");
}

TEST_F(SaveTest, NothingIsCommittedAgainstTheLastWord) {
  const SnapshotStore store = open_store();
  CaptureRequest doubted = request();
  Digest told{};
  doubted.before_commit = [&told](const Digest& fingerprint) -> Status {
    told = fingerprint;
    return Error(ErrorCode::kDataLoss, "doubt");
  };
  const auto refused = capture(store, doubted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "doubt");
  EXPECT_TRUE(store.catalog().snapshots({.company = "default", .workspace = {}})->empty());
  doubted.before_commit = [](const Digest&) { return Status(); };
  const auto saved = capture(store, doubted);
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->fingerprint, told);
}

TEST_F(SaveTest, WhatWasLeftOutBeforeIsTold) {
  const SnapshotStore store = open_store();
  CaptureRequest copied = request();
  copied.omitted_before = {{"z.sock", workspace::OmissionReason::kSocket},
                           {"a.sock", workspace::OmissionReason::kSocket}};
  const auto saved = capture(store, copied);
  ASSERT_TRUE(saved) << saved.error().to_string();
  ASSERT_EQ(saved->omissions.size(), 2U);
  EXPECT_EQ(saved->omissions.front().path, "a.sock");
}

TEST_F(SaveTest, WhatDeadWritersLeftIsCollectedAfterTheGrace) {
  const SnapshotStore store = open_store();
  const std::string kept = capture(store, request())->snapshot;
  const pid_t child = ::fork();
  if (child == 0) {
    write("fresh", std::string(100'000, 'f'));
    CaptureRequest dying = request();
    dying.on_step = [](std::string_view name) {
      if (name == "seal") ::_exit(0);
    };
    (void)capture(open_store(), dying);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(collect(store, "default", now_ms())->packs, 0U) << "the writer may still live";
  const std::int64_t later = now_ms() + 3 * kUnknownObjectGraceMs;
  const auto collected = collect(store, "default", later);
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(collected->abandoned, 1U);
  EXPECT_EQ(collected->packs, 1U);
  EXPECT_EQ(collected->unknown, 1U) << "the manifest that no row names";
  EXPECT_TRUE(verify(store, {.company = "default", .snapshot = {}})->whole());
  EXPECT_TRUE(restore_to(store, kept, "back"));
}

TEST_F(SaveTest, AFileThatNeverHoldsStillFailsAStrictSave) {
  CaptureRequest strict = request();
  strict.must_hold_still = true;
  int rounds = 0;
  // A change in every round: after the content of a file was read.
  class Writer : public workspace::Progress {
   public:
    Writer(std::string path, int& rounds) : path_(std::move(path)), rounds_(rounds) {}
    void begin(std::string_view, std::uint64_t) override {}
    void add(std::uint64_t) override { std::ofstream(path_) << "round " << ++rounds_; }
    void end(bool) override {}

   private:
    std::string path_;
    int& rounds_;
  } writer(tree() + "/file", rounds);
  strict.progress = &writer;
  const SnapshotStore store = open_store();
  const auto failed = capture(store, strict);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(store.catalog().snapshots({.company = "default", .workspace = {}})->empty());
  strict.must_hold_still = false;
  const auto report = capture(store, strict);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->unsettled, std::vector<std::string>{"file"});
  EXPECT_TRUE(verify(store, {.company = "default", .snapshot = {}})->whole());
}

TEST_F(SaveTest, AKilledRestoreShowsNothing) {
  const SnapshotStore store = open_store();
  const std::string id = capture(store, request())->snapshot;
  for (const std::string step : {"stage", "files", "finish", "publish"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const SnapshotStore own = open_store();
      (void)restore(own, *own.find("default", id),
                    {.target = scratch_->path() + "/back", .path = {}, .on_step = [&](std::string_view name) {
                       if (name == step) ::_exit(42);
                     }});
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 42) << step;
    EXPECT_FALSE(fs::exists(scratch_->path() + "/back")) << step;
  }
  ASSERT_TRUE(restore_to(store, id, "back"));
}

TEST_F(SaveTest, KeysRotateAndAnErasedCompanyIsGone) {
  const SnapshotStore store = open_store();
  const std::string before = capture(store, request())->snapshot;
  ASSERT_TRUE(rotate_company_key(store.catalog(), "default", store.masters(), now_ms()));
  const auto again = capture(store, request());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->new_chunks, 0U) << "chunks are found again after a rotation";
  write("file", "sealed with the new key");
  const auto after = capture(store, request());
  ASSERT_TRUE(after);
  EXPECT_EQ(after->new_chunks, 1U);
  for (const std::string& id : {before, after->snapshot}) ASSERT_TRUE(restore_to(store, id, id));
  ASSERT_TRUE(store.catalog().erase_company("default"));
  EXPECT_FALSE(store.keys_of("default"));
  EXPECT_FALSE(restore_to(store, before, "gone"));
}

TEST(MasterKeyTest, Spellings) {
  const std::string hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const auto key = parse_master_key(hex);
  ASSERT_TRUE(key);
  EXPECT_EQ(parse_master_key("ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=")->fingerprint(), key->fingerprint());
  EXPECT_TRUE(parse_master_key(std::string(32, 'k')));
  for (const std::string& text : {std::string(), std::string("short"), hex.substr(1)})
    EXPECT_FALSE(parse_master_key(text)) << text;
}

}  // namespace
}  // namespace cofferdam::snapshot
