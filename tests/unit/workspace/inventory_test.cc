#include "workspace/inventory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "crypto/sha256.h"
#include "workspace/copy_tree.h"
#include "workspace/stat_cache.h"

namespace cofferdam::workspace {
namespace {

namespace fs = std::filesystem;

class InventoryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = system::TemporaryDirectory::create(fs::temp_directory_path(), "cofferdam-inventory-");
    ASSERT_TRUE(made);
    scratch_.emplace(std::move(*made));
    fs::create_directories(path("tree"));
    root_ = *system::open_directory(path("tree"));
  }
  std::string path(const std::string& name) const { return scratch_->path() + "/" + name; }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(path("tree/" + name)).parent_path());
    std::ofstream(path("tree/" + name), std::ios::binary) << content;
  }
  std::vector<std::string> names(const InventoryOptions& options = {}) const {
    std::vector<std::string> out;
    for (const Entry& entry : take_inventory(root_.get(), options)->entries) out.push_back(entry.path);
    return out;
  }

  std::optional<system::TemporaryDirectory> scratch_;
  UniqueFd root_;
};

TEST_F(InventoryTest, NamesAreBytes) {
  const std::vector<std::string> odd = {"*", "-dash", "._x", "new\nline", std::string(255, 'n'), "\xff\xfe"};
  for (const std::string& name : odd) write(name, name);
  EXPECT_EQ(names(), odd);
}

TEST_F(InventoryTest, ExclusionsAreLiteralAndAnchored) {
  write("run.sock", "");
  write("sub/run.sock", "");
  write("a*", "");
  write("ab", "");
  InventoryOptions options;
  options.walk.exclude = PathSet({"run.sock", "a*"});
  EXPECT_EQ(names(options), (std::vector<std::string>{"ab", "sub", "sub/run.sock"}));
}

TEST_F(InventoryTest, DependenciesAreLeftOutUnlessTrackedOrInsideGit) {
  write("node_modules/x", "");
  write("kept/node_modules/x", "");
  write("venv/pyvenv.cfg", "");
  write(".git/pyvenv.cfg", "");
  write(".git/node_modules/x", "");
  InventoryOptions options;
  options.walk.leave_out_dependencies = true;
  options.walk.is_tracked = [](const std::string& asked) -> Result<bool> { return asked == "kept/node_modules"; };
  EXPECT_EQ(names(options),
            (std::vector<std::string>{".git", ".git/node_modules", ".git/node_modules/x", ".git/pyvenv.cfg", "kept",
                                      "kept/node_modules", "kept/node_modules/x"}));
}

TEST_F(InventoryTest, BoundsAndSpecialModes) {
  write("a/b/c", "12345");
  InventoryOptions options;
  options.walk.bounds.entries = 2;
  EXPECT_EQ(take_inventory(root_.get(), options).error().code(), ErrorCode::kResourceExhausted);
  options.walk.bounds = {.entries = 3, .depth = 1};
  EXPECT_EQ(take_inventory(root_.get(), options).error().code(), ErrorCode::kResourceExhausted);
  options.walk.bounds = {.bytes = 4};
  EXPECT_EQ(take_inventory(root_.get(), options).error().code(), ErrorCode::kResourceExhausted);
  ASSERT_EQ(::chmod(path("tree/a/b/c").c_str(), 04755), 0);
  const auto inventory = take_inventory(root_.get(), {});
  EXPECT_EQ(find_entry(inventory->entries, "a/b/c")->mode, 0755U);
  EXPECT_EQ(inventory->stripped_modes, std::vector<std::string>{"a/b/c"});
  options.walk = {.refuse_special_modes = true};
  EXPECT_EQ(take_inventory(root_.get(), options).error().code(), ErrorCode::kFailedPrecondition);
}

TEST_F(InventoryTest, FingerprintTellsContentModeAndTargetButNotTime) {
  write("file", "a");
  fs::create_symlink("file", path("tree/link"));
  const auto fingerprint = [&] { return fingerprint_of(take_inventory(root_.get(), {})->entries); };
  const Digest first = fingerprint();
  const timeval times[2] = {{.tv_sec = 5, .tv_usec = 0}, {.tv_sec = 5, .tv_usec = 0}};
  ASSERT_EQ(::utimes(path("tree/file").c_str(), times), 0);
  EXPECT_EQ(fingerprint(), first);
  ASSERT_EQ(::chmod(path("tree/file").c_str(), 0600), 0);
  const Digest second = fingerprint();
  EXPECT_NE(second, first);
  write("file", "b");
  EXPECT_NE(fingerprint(), second);
}

TEST_F(InventoryTest, TheStatCacheForgetsWhatIsGoneAndDistrustsWhatIsFresh) {
  write("file", "content");
  const auto load = [&] { return StatCache::load(path("cache")); };
  {
    StatCache cache = load();
    ASSERT_TRUE(take_inventory(root_.get(), {.walk = {}, .cache = &cache}));
    ASSERT_TRUE(cache.store());
    const system::FileIdentity identity = system::identity_of(*system::status_beneath(root_.get(), "file"));
    EXPECT_FALSE(cache.digest_of("file", identity)) << "changed less than a second ago";
    cache.remember("file", {.device = 1, .inode = 2, .ctime_ns = 3}, crypto::sha256("content"));
    ASSERT_TRUE(cache.store());
  }
  const system::FileIdentity old{.device = 1, .inode = 2, .ctime_ns = 3};
  StatCache cache = load();
  EXPECT_EQ(cache.digest_of("file", old), crypto::sha256("content"));
  system::FileIdentity other = old;
  other.mtime_ns = 1;
  EXPECT_FALSE(cache.digest_of("file", other));
  std::ofstream(path("cache"), std::ios::app) << "x";
  EXPECT_FALSE(load().digest_of("file", old)) << "a damaged file is an empty cache";
}

TEST_F(InventoryTest, ACopyIsAlike) {
  write("sub/file", std::string(100'000, 'c'));
  fs::create_hard_link(path("tree/sub/file"), path("tree/hard"));
  fs::create_symlink("/outside", path("tree/link"));
  fs::create_directory(path("tree/empty"));
  {
    std::ofstream sparse(path("tree/sparse"));
    sparse << "begin";
    sparse.seekp(50 << 20);
    sparse << "end";
  }
  fs::permissions(path("tree/sub"), fs::perms::owner_read | fs::perms::owner_exec);
  fs::create_directory(path("copy"));
  const UniqueFd target = *system::open_directory(path("copy"));
  const auto report = copy_tree(root_.get(), target.get(), {});
  ASSERT_TRUE(report) << report.error().to_string();
  const auto original = take_inventory(root_.get(), {});
  const auto copy = take_inventory(target.get(), {});
  EXPECT_EQ(fingerprint_of(copy->entries), fingerprint_of(original->entries));
  for (std::size_t i = 0; i < copy->entries.size(); ++i) {
    EXPECT_EQ(copy->entries[i].mtime_ns, original->entries[i].mtime_ns) << copy->entries[i].path;
  }
  EXPECT_EQ(fs::hard_link_count(path("copy/hard")), 2U);
  struct stat status{};
  ASSERT_EQ(::stat(path("copy/sparse").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks, 1000) << "holes stay holes";
  fs::permissions(path("tree/sub"), fs::perms::owner_all);
  fs::permissions(path("copy/sub"), fs::perms::owner_all);
}

}  // namespace
}  // namespace cofferdam::workspace
