// The rules that need no sandbox: how a write ended, what travels, configurations, the shared time.
#include <gmock/gmock.h>

#include "recovery/deadline.h"
#include "recovery/failure.h"
#include "recovery/git_check.h"
#include "recovery/plan.h"
#include "recovery/portable_archive.h"
#include "recovery/staging.h"

namespace cofferdam::recovery {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using workspace::Omission;
using workspace::OmissionReason;

TEST(WriteTest, OnlyTheWritersLastWordsCount) {
  EXPECT_EQ(judge_write("dd", 0, ""), WriteEnd::kDone);
  EXPECT_EQ(judge_write("dd", 0, "dd: x: No space left on device"), WriteEnd::kDone);
  EXPECT_EQ(judge_write("dd", 1, "dd: error writing '/w/x': No space left on device\n"), WriteEnd::kDiskFull);
  EXPECT_EQ(judge_write("dd", 1, "dd: failed to open '/w/x': No space left on device"), WriteEnd::kDiskFull);
  EXPECT_EQ(judge_write("mkdir", 1, "mkdir: cannot create directory '/w/x': No space left on device"),
            WriteEnd::kDiskFull);
  EXPECT_EQ(judge_write("dd", 1, "dd: error writing '/w/x': Disk quota exceeded"), WriteEnd::kQuota);
  // Names, other programs, the agent's own words.
  EXPECT_EQ(judge_write("dd", 1, "dd: failed to open '/No space left on device': Permission denied"),
            WriteEnd::kFailed);
  EXPECT_EQ(judge_write("dd", 1, "tar: a: No space left on device"), WriteEnd::kFailed);
  EXPECT_EQ(judge_write("dd", 1, "No space left on device"), WriteEnd::kFailed);
  EXPECT_EQ(judge_write("dd", 1, "dd: x: No space left on device\ndd: y: Input/output error"), WriteEnd::kFailed);
  EXPECT_EQ(judge_write("dd", 137, ""), WriteEnd::kFailed);
}

class PlanTest : public testing::Test {
 protected:
  PlanTest() { add("", SourceKind::kDirectory); }

  SourceEntry& add(const std::string& path, SourceKind kind = SourceKind::kFile, const std::string& target = "") {
    listing_.push_back({.path = path,
                        .kind = kind,
                        .mode = kind == SourceKind::kDirectory ? 0755U : 0644U,
                        .size = kind == SourceKind::kFile ? 10U : 0U,
                        .device = 1,
                        .target = target});
    return listing_.back();
  }
  void add_repository(const std::string& place) {
    const std::string prefix = place.empty() ? "" : place + "/";
    if (!place.empty()) add(place, SourceKind::kDirectory);
    add(prefix + ".git", SourceKind::kDirectory);
    add(prefix + ".git/HEAD");
  }
  CapturePlan plan() {
    std::ranges::sort(listing_, {}, &SourceEntry::path);
    return choose_entries(listing_, tracked_, exclude_, with_dependencies_);
  }
  std::string refusal() {
    const Status checked = check_plan(plan(), tracked_, limits_);
    return checked ? "" : checked.error().message().substr(0, checked.error().message().find(':'));
  }
  std::vector<std::string> paths() {
    std::vector<std::string> out;
    for (const auto& entry : plan().entries) out.push_back(entry.path);
    return out;
  }

  std::vector<SourceEntry> listing_;
  std::vector<git::IndexName> tracked_;
  workspace::PathSet exclude_;
  bool with_dependencies_ = false;
  CaptureLimits limits_;
};

TEST_F(PlanTest, DependenciesAreLeftOutAsByASave) {
  for (const char* directory : {"node_modules", "a", "a/venv", "a/node_modules", "kept", "kept/node_modules", ".git"}) {
    add(directory, SourceKind::kDirectory);
  }
  for (const char* file : {"node_modules/x", "a/venv/pyvenv.cfg", "a/venv/y", "a/node_modules/z", "a/file",
                           "kept/node_modules/t", ".git/pyvenv.cfg", ".git/HEAD"}) {
    add(file);
  }
  tracked_ = {{.path = "kept/node_modules/t", .mode = 0100644}};
  EXPECT_THAT(paths(), ElementsAre(".git", ".git/HEAD", ".git/pyvenv.cfg", "a", "a/file", "kept", "kept/node_modules",
                                   "kept/node_modules/t"));
  EXPECT_THAT(plan().omissions, ElementsAre(Omission{"a/node_modules", OmissionReason::kDependencies},
                                            Omission{"a/venv", OmissionReason::kDependencies},
                                            Omission{"node_modules", OmissionReason::kDependencies}));
  EXPECT_TRUE(plan().exclude.covers("a/venv/y"));
  EXPECT_EQ(refusal(), "");
  with_dependencies_ = true;
  EXPECT_EQ(plan().entries.size(), listing_.size() - 1);
}

TEST_F(PlanTest, ALinkOrDirectoryNamedPyvenvIsNoMark) {
  add("venv", SourceKind::kDirectory);
  add("venv/pyvenv.cfg", SourceKind::kSymlink, "x");
  EXPECT_THAT(paths(), ElementsAre("venv", "venv/pyvenv.cfg"));
}

TEST_F(PlanTest, SocketsAndOtherFileSystemsAreLeftOutAndTold) {
  add("run.sock", SourceKind::kSocket);
  add("sub", SourceKind::kDirectory);
  add("sub/run.sock");
  add("mounted", SourceKind::kDirectory).device = 2;
  EXPECT_THAT(paths(), ElementsAre("sub", "sub/run.sock"));
  EXPECT_THAT(plan().omissions, ElementsAre(Omission{"mounted", OmissionReason::kOtherFileSystem},
                                            Omission{"run.sock", OmissionReason::kSocket}));
  EXPECT_EQ(refusal(), "");
}

TEST_F(PlanTest, RepositoriesThatLeanElsewhereAreRefused) {
  struct Case {
    const char* path;
    SourceKind kind;
  };
  for (const Case& one :
       {Case{".git/objects/info/alternates", SourceKind::kFile},
        Case{".git/objects/info/http-alternates", SourceKind::kFile}, Case{".git/commondir", SourceKind::kFile},
        Case{".git/config.worktree", SourceKind::kFile}, Case{".git/modules/sub", SourceKind::kDirectory},
        Case{".git/worktrees/other", SourceKind::kDirectory}, Case{".git/config", SourceKind::kSymlink},
        Case{".git/refs/heads/main", SourceKind::kSymlink}, Case{".git/Config", SourceKind::kFile},
        Case{".git/head", SourceKind::kFile}, Case{".git/objects/info/Alternates", SourceKind::kFile},
        Case{".GIT", SourceKind::kDirectory}, Case{"sub/.Git", SourceKind::kFile}, Case{"sub/.git", SourceKind::kFile},
        Case{"sub/.git", SourceKind::kSymlink}}) {
    listing_.clear();
    add("", SourceKind::kDirectory);
    add_repository("");
    add("sub", SourceKind::kDirectory);
    EXPECT_EQ(refusal(), "");
    add(one.path, one.kind, "HEAD");
    EXPECT_EQ(refusal(), "workspace_capture_git_layout_unsupported") << one.path;
  }
}

TEST_F(PlanTest, BranchesMayBeNamedLikeGitsFiles) {
  add_repository("");
  add(".git/refs/heads/Config");
  add(".git/logs/refs/heads/HEAD");
  EXPECT_EQ(refusal(), "");
}

TEST_F(PlanTest, AnInitialisedSubmoduleOfTheOlderKindIsRefused) {
  add_repository("");
  add_repository("sub");
  EXPECT_EQ(refusal(), "");
  tracked_ = {{.path = "sub", .mode = git::kGitlinkBits}};
  EXPECT_EQ(refusal(), "workspace_capture_git_layout_unsupported");
}

TEST_F(PlanTest, OnlyWhatTravelsCanBeRefused) {
  add("venv", SourceKind::kDirectory);
  add("venv/pyvenv.cfg");
  add("venv/python", SourceKind::kSymlink, "/usr/bin/python3");
  add("venv/setuid").mode = 04755;
  EXPECT_EQ(refusal(), "");
  with_dependencies_ = true;
  EXPECT_EQ(refusal(), "workspace_capture_special_mode");
}

TEST_F(PlanTest, SpecialModesFilesAndLinksAreRefused) {
  for (const std::uint32_t bit : {04000U, 02000U, 01000U}) {
    listing_.resize(1);
    add("a").mode = bit | 0755;
    EXPECT_EQ(refusal(), "workspace_capture_special_mode");
  }
  for (const SourceKind kind : {SourceKind::kFifo, SourceKind::kDevice, SourceKind::kUnknown}) {
    listing_.resize(1);
    add("a", kind);
    EXPECT_EQ(refusal(), "workspace_capture_special_file");
  }
  for (const char* target : {"/etc/passwd", "../x", "a/../../x"}) {
    listing_.resize(1);
    add("link", SourceKind::kSymlink, target);
    EXPECT_EQ(refusal(), "workspace_capture_link_unconfined");
  }
  listing_.resize(1);
  add("sub", SourceKind::kDirectory);
  add("sub/link", SourceKind::kSymlink, "../x");
  EXPECT_EQ(refusal(), "");
}

TEST_F(PlanTest, BudgetsHoldAtTheirBound) {
  const auto refused_below = [&](auto CaptureLimits::* limit, auto exact) {
    limits_ = {};
    limits_.*limit = exact;
    EXPECT_EQ(refusal(), "");
    limits_.*limit = exact - 1;
    EXPECT_EQ(refusal(), "workspace_capture_budget_exceeded");
  };
  add_repository("");
  add_repository("one");
  add("node_modules", SourceKind::kDirectory);
  refused_below(&CaptureLimits::entries, std::uint64_t{5});
  refused_below(&CaptureLimits::bytes, std::uint64_t{20});
  refused_below(&CaptureLimits::repositories, std::size_t{2});
  refused_below(&CaptureLimits::exclusions, std::size_t{1});
  refused_below(&CaptureLimits::repository_entries, std::uint64_t{2});
  refused_below(&CaptureLimits::repository_bytes, std::uint64_t{10});
}

std::vector<git::ConfigSetting> settings(const std::string& text) {
  return *git::parse_config(text);
}
std::string config_refusal(const std::string& text, const CaptureLimits& limits = {}) {
  const Status checked = check_config(settings(text), limits, ".git/config");
  return checked ? "" : checked.error().message();
}

TEST(ConfigTest, OnlyListedKeysPass) {
  EXPECT_EQ(config_refusal("[core]\n\tfilemode = true\n[user]\n\tname = n\n"), "");
  EXPECT_EQ(config_refusal("[core]\n\tattributesFile = /etc/passwd\n"),
            "workspace_capture_git_config_unsupported: .git/config: core.attributesfile names a file of this machine");
  EXPECT_EQ(config_refusal("[color]\n\tui = auto\n"),
            "workspace_capture_git_config_unsupported: .git/config: color.ui is not on the list of portable settings");
  EXPECT_THAT(config_refusal("[include]\n\tpath = /etc/passwd\n"),
              StartsWith("workspace_capture_git_config_unsupported"));
  EXPECT_THAT(config_refusal("[remote \"o\"]\n\turl = https://user:secret@x.y/z\n"),
              StartsWith("workspace_capture_git_config_unsupported"));
}

TEST(ConfigTest, BudgetsHoldAtTheirBound) {
  const std::string two = "[remote \"o\"]\n\tfetch = +refs/heads/*:refs/remotes/o/*\n\tfetch = +a:b\n";
  EXPECT_EQ(config_refusal(two, {.refspecs = 2}), "");
  EXPECT_THAT(config_refusal(two, {.refspecs = 1}), StartsWith("workspace_capture_budget_exceeded: "));
  EXPECT_EQ(config_refusal(two, {.refspec_bytes = 30}), "");
  EXPECT_THAT(config_refusal(two, {.refspec_bytes = 29}), StartsWith("workspace_capture_budget_exceeded: "));
  EXPECT_EQ(config_refusal(two, {.settings = 2}), "");
  EXPECT_THAT(config_refusal(two, {.settings = 1}), StartsWith("workspace_capture_budget_exceeded: "));
}

TEST(DeadlineTest, WorkSharesItAndPausesDoNotCount) {
  using std::chrono::seconds;
  std::chrono::steady_clock::time_point now;
  SharedDeadline deadline([&now] { return now; }, std::chrono::milliseconds(120'000));
  {
    const SharedDeadline::Work work(deadline);
    now += seconds(70);
    EXPECT_EQ(deadline.left(), seconds(50));
  }
  now += seconds(1'000);
  EXPECT_TRUE(deadline.check());
  const SharedDeadline::Work work(deadline);
  now += seconds(49);
  EXPECT_TRUE(deadline.check());
  now += seconds(1);
  const Status over = deadline.check();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message(),
            "workspace_capture_deadline_exceeded: verification and normalisation took longer than 120 s");
}

TEST(FailureTest, NamesAreThoseThatProgramsCompare) {
  EXPECT_EQ(name_of(Failure::kSandboxDiskFull), "remote_workspace_sandbox_disk_full");
  EXPECT_EQ(name_of(Failure::kSourceChanged), "workspace_capture_source_changed");
  EXPECT_EQ(name_of(Failure::kSeal), "workspace_capture_seal_failed");
}

TEST(DiskFullTest, OnlyTheEndOfOurOwnErrorCounts) {
  EXPECT_TRUE(is_disk_full(Error::from_errno(ENOSPC, "write x")));
  EXPECT_TRUE(is_disk_full(Error::from_errno(EDQUOT, "write x")));
  EXPECT_FALSE(is_disk_full(Error::from_errno(EMFILE, "open No space left on device")));
  EXPECT_FALSE(is_disk_full(Error(ErrorCode::kIo, "x: No space left on device")));
}

}  // namespace
}  // namespace cofferdam::recovery
