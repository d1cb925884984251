// Whole captures of a directory that stands for a sandbox.
#include <gmock/gmock.h>
#include <unistd.h>

#include "recovery/staging.h"
#include "unit/recovery/sandboxes.h"

namespace cofferdam::recovery {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using workspace::Omission;
using workspace::OmissionReason;

class RecoverTest : public SandboxTest {};

TEST_F(RecoverTest, TheUsualCaptureComesFirstAndLeavesNothing) {
  make_repository();
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->road, Road::kPortable);
  EXPECT_EQ(source_->streams, 0);
  EXPECT_EQ(git_runs_, 0);
  EXPECT_NE(saved_entry("untracked"), nullptr);
  EXPECT_NE(saved_entry(".git/index"), nullptr);
}

TEST_F(RecoverTest, WhatTheFallbackRefusesTheUsualCaptureMaySave) {
  make_repository();
  in_sandbox("git config color.ui auto && chmod u+s a && ln -s /etc/passwd leads && mkfifo fifo");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->road, Road::kPortable);
  EXPECT_THAT(saved->leading_links, ElementsAre("leads"));
  EXPECT_THAT(saved->capture.stripped_modes, ElementsAre("a"));
  EXPECT_THAT(omitted_, ElementsAre(Omission{"fifo", OmissionReason::kFifo}));
  EXPECT_EQ(saved_entry("a")->mode & 07000U, 0U);
}

TEST_F(RecoverTest, AFullDiskAtTheHelperTakesTheOtherRoadOnce) {
  make_repository();
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->road, Road::kController);
  EXPECT_THAT(saved->disk_full, StartsWith("remote_workspace_sandbox_disk_full: dd: error writing"));
  EXPECT_TRUE(committed_);
  EXPECT_EQ(git_runs_, 1);
  // Directory, helper, removal; the write that failed is not repeated, and nothing else is written.
  EXPECT_EQ(source_->commands.size(), 3U);
  EXPECT_THAT(source_->commands[1], HasSubstr("of="));
  EXPECT_THAT(source_->commands[2], HasSubstr("rm -rf"));
  EXPECT_EQ(source_->streams, 3) << "copied, compared before sealing, compared after it";
}

TEST_F(RecoverTest, AFullDiskAtTheArchiveTakesTheOtherRoadOnce) {
  make_repository();
  fill_disk_at("--create");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved->road, Road::kController);
  EXPECT_TRUE(committed_);
  EXPECT_EQ(std::ranges::count_if(source_->commands, [](const auto& words) { return words.contains("--create"); }), 1);
}

TEST_F(RecoverTest, NothingButTheExactConditionTakesIt) {
  make_repository();
  fill_disk_at("capture.sh", "Disk quota exceeded");
  expect_refused(Failure::kSandboxQuota, "quota");
  fill_disk_at("--create", "Input/output error");
  expect_refused(Failure::kDownload, "another error");
  source_->answer = [](const std::string& words) -> std::optional<ExecResult> {
    if (!words.contains("--create")) return std::nullopt;
    return ExecResult{.outcome = {.exit_code = 0, .error_text = "tar: a: No space left on device\n"},
                      .output = "tar 2\ndd 0\n"};
  };
  expect_refused(Failure::kDownload, "words of another program");
  in_sandbox("mkdir 'No space left on device'");
  source_->answer = [](const std::string& words) -> std::optional<ExecResult> {
    if (!words.contains("capture.sh")) return std::nullopt;
    return ExecResult{
        .outcome = {.exit_code = 1, .error_text = "dd: failed to open '/No space left on device': Permission denied\n"},
        .output = {}};
  };
  expect_refused(Failure::kDownload, "a name");
  EXPECT_EQ(source_->streams, 0);
  EXPECT_EQ(git_runs_, 0);
}

TEST_F(RecoverTest, EveryUserNameArrives) {
  make_repository();
  in_sandbox(
      "mkdir -p sub/deep empty .paperclip-runtime && touch ._result.txt 'a*b' 'a?b' '[x]' -- -dash 'new\nline' "
      "\"$(printf '\\377\\376')\" \"$(printf 'n%.0s' $(seq 255))\" sub/run.sock sub/.paperclip-runtime "
      ".paperclip-runtime/log "
      "&& mkdir 'lit*' && touch 'lit*/x' litX && ln a hard && ln -s sub/deep link && ln -s ../a sub/up && "
      "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"run.sock\")'");
  request_.exclude.add("lit*");
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  for (const std::string& name :
       {std::string("._result.txt"), std::string("a*b"), std::string("a?b"), std::string("[x]"), std::string("-dash"),
        std::string("new\nline"), std::string("\377\376"), std::string(255, 'n'), std::string("sub/run.sock"),
        std::string("sub/.paperclip-runtime"), std::string("empty"), std::string("litX"), std::string("hard")}) {
    EXPECT_NE(saved_entry(name), nullptr) << name;
  }
  EXPECT_EQ(saved_entry("link")->target, "sub/deep");
  EXPECT_EQ(saved_entry("sub/up")->target, "../a");
  for (const char* name : {"run.sock", ".paperclip-runtime", "lit*", "lit*/x"}) EXPECT_EQ(saved_entry(name), nullptr);
  EXPECT_THAT(omitted_, ElementsAre(Omission{"run.sock", OmissionReason::kSocket}));
  EXPECT_EQ(std::to_string(saved->capture.files) + "\n",
            in_sandbox("find . -type f ! -path './.paperclip-runtime/*' ! -path './lit[*]/*' -printf x | wc -c"));
}

TEST_F(RecoverTest, DependenciesAreLeftOutAndTrackedOnesKept) {
  make_repository();
  in_sandbox(
      "mkdir -p venv/bin node_modules/x sub/node_modules && touch venv/pyvenv.cfg node_modules/x/y sub/node_modules/t "
      ".git/pyvenv.cfg && ln -s /usr/bin/python3 venv/bin/python && git add -f sub/node_modules && git commit -qm two");
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved_entry("venv"), nullptr);
  EXPECT_EQ(saved_entry("node_modules"), nullptr);
  EXPECT_NE(saved_entry("sub/node_modules/t"), nullptr);
  EXPECT_NE(saved_entry(".git/pyvenv.cfg"), nullptr);
  EXPECT_NE(saved_entry(".git/HEAD"), nullptr);
}

TEST_F(RecoverTest, RefusalsComeBeforeGitAndLeaveEverythingAsItWas) {
  struct Case {
    Failure failure;
    const char* what;
    const char* script;
  };
  for (const Case& one : {
           Case{Failure::kGitLayout, "copied pointer", "mkdir sub && echo 'gitdir: ../.git' >sub/.git"},
           Case{Failure::kGitLayout, "initialised submodule",
                "git init -q ../other && git -C ../other commit -q --allow-empty -m x && "
                "git submodule --quiet add ../other sub"},
           Case{Failure::kGitLayout, "alternates", "echo /elsewhere >.git/objects/info/alternates"},
           Case{Failure::kGitLayout, "administrative link", "ln -s HEAD .git/other"},
           Case{Failure::kGitLayout, "linked config", "mv .git/config .git/real && ln -s real .git/config"},
           Case{Failure::kGitLayout, "alias of .git", "mkdir .GIT"},
           Case{Failure::kGitLayout, "alias of config", "cp .git/config .git/Config"},
           Case{Failure::kGitLayout, "linked worktrees", "git worktree add -q ../tree"},
           Case{Failure::kGitConfig, "unlisted key", "git config color.ui auto"},
           Case{Failure::kGitConfig, "attributes file", "git config core.attributesFile /etc/passwd"},
           Case{Failure::kGitConfig, "include", "git config include.path /etc/passwd"},
           Case{Failure::kGitConfig, "nested", "git init -q sub && git -C sub config core.pager 'touch ran'"},
           Case{Failure::kSpecialMode, "setuid", "chmod u+s a"},
           Case{Failure::kSpecialMode, "setgid", "chmod g+s a"},
           Case{Failure::kSpecialMode, "sticky", "mkdir t && chmod +t t"},
           Case{Failure::kSpecialFile, "fifo", "mkfifo fifo"},
           Case{Failure::kLink, "absolute link", "ln -s /etc/passwd link"},
           Case{Failure::kLink, "escaping link", "ln -s ../outside link"},
           Case{Failure::kBudget, "refspecs",
                "for i in $(seq 257); do echo \"	fetch = +refs/heads/$i:refs/x/$i\"; done | "
                "{ echo '[remote \"o\"]'; cat; } >>.git/config"},
           Case{Failure::kBudget, "settings", "for i in $(seq 1025); do echo \"[user]name=$i\"; done >>.git/config"},
           Case{Failure::kBudget, "roots", "for i in $(seq 64); do mkdir -p r$i/.git; done"},
       }) {
    shell(place_->path(), "chmod -R u+rwX w && rm -rf w other tree && mkdir w");
    make_repository();
    in_sandbox(one.script);
    fill_disk_at("capture.sh");
    expect_refused(one.failure, one.what);
    EXPECT_EQ(git_runs_, 0) << one.what;
  }
}

TEST_F(RecoverTest, ALinkedWorktreeIsRefusedWhenTheDiskIsFull) {
  shell(
      place_->path(),
      "rmdir w && git init -q other && git -C other commit -q --allow-empty -m x && git -C other worktree add -q ../w");
  fill_disk_at("capture.sh");
  expect_refused(Failure::kGitLayout, "linked worktree");
  EXPECT_EQ(git_runs_, 0);
}

TEST_F(RecoverTest, ASubmoduleOfALinkedWorktreeIsNotLostInSilence) {
  shell(
      place_->path(),
      "rmdir w && git init -q other && git -C other commit -q --allow-empty -m x && git -C other worktree add -q ../w");
  in_sandbox("mkdir sub && echo 'gitdir: /elsewhere' >sub/.git");
  expect_refused(Failure::kGitLayout, "pointer in a linked worktree");
}

TEST_F(RecoverTest, SixtyFourRootsAreEnough) {
  make_repository();
  in_sandbox("for i in $(seq 63); do mkdir -p r$i/.git; done");
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
}

TEST_F(RecoverTest, TheErrorTellsWhatTheFirstAttemptMet) {
  make_repository();
  in_sandbox("mkfifo fifo");
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_FALSE(saved);
  EXPECT_THAT(
      saved.error().to_string(),
      StartsWith("after the capture in the sandbox met \"remote_workspace_sandbox_disk_full: dd: error writing"));
}

TEST_F(RecoverTest, ASourceThatChangesGivesNoReceipt) {
  must_stay_ = false;
  for (int number = 1; number <= 3; ++number) {
    for (const char* change :
         {"echo more >>a", "echo new >new", "rm untracked", "chmod 600 a", "mv a b", "rm a && mkfifo a",
          "rm a && ln -s untracked a", "cp -p a x && echo A >x && touch -r a x && cat x >a && touch -r x a && rm x"}) {
      shell(place_->path(), "rm -rf w && mkdir w");
      make_repository();
      source_.emplace(transport_, root());
      source_->before_stream = [&](int now) {
        if (now == number) in_sandbox(change);
      };
      fill_disk_at("capture.sh");
      expect_refused(Failure::kSourceChanged, std::to_string(number) + ": " + change);
    }
  }
}

TEST_F(RecoverTest, ACopyThatIsNotTheSourceGivesNoReceipt) {
  make_repository();
  in_sandbox("mkdir closed && echo x >closed/file && chmod 555 closed");
  for (const char* damage :
       {"printf A | dd of=a conv=notrunc status=none", "echo extra >extra", "rm untracked", "chmod 600 a", "mkdir d"}) {
    source_->streams = 0;
    source_->before_stream = [&](int now) {
      if (now == 2) shell(path("scratch"), "cd recover-*/tree && " + std::string(damage));
    };
    fill_disk_at("capture.sh");
    expect_refused(Failure::kInventoryMismatch, damage);
    EXPECT_EQ(git_runs_, 0);
  }
  in_sandbox("chmod 755 closed");
}

TEST_F(RecoverTest, AStreamThatLiesIsFoundOutBeforeAndAfterSealing) {
  make_repository();
  in_sandbox("echo needle-of-this-test >needle");
  for (int number = 1; number <= 3; ++number) {
    source_->streams = 0;
    source_->alter_stream = [&](int now, ExecResult& all) {
      if (now == number) all.output[all.output.find("needle-of-this-test")] = 'N';
    };
    fill_disk_at("capture.sh");
    expect_refused(number < 3 ? Failure::kInventoryMismatch : Failure::kSourceChanged, std::to_string(number));
  }
}

TEST_F(RecoverTest, AnOlderSourceThatOmitsNamesCannotPublish) {
  make_repository();
  in_sandbox("echo x >._result.txt");
  source_->alter_stream = [&](int, ExecResult& all) {
    all.output = shell(root(), "ls -A | grep -v '^\\._' | tar -cf - --format=pax --hard-dereference -T -");
  };
  fill_disk_at("capture.sh");
  expect_refused(Failure::kInventoryMismatch, "omitted name");
}

TEST_F(RecoverTest, AFailedDownloadLeavesNothingAndKeepsItsWords) {
  make_repository();
  for (int number = 1; number <= 3; ++number) {
    source_->streams = 0;
    source_->alter_stream = [&](int now, ExecResult& all) {
      if (now == number) {
        all.output.resize(all.output.size() / 2);
        all.outcome = {.exit_code = 2, .error_text = "tar: a: No space left on device\n"};
      }
    };
    fill_disk_at("capture.sh");
    const auto saved = save();
    ASSERT_FALSE(saved);
    EXPECT_FALSE(committed_);
    EXPECT_THAT(saved.error().message(),
                StartsWith("workspace_capture_download_failed: the sandbox could not stream its files (exit code 2): "
                           "tar: a: No space left on device"));
    EXPECT_EQ(source_->streams, number) << "it is not repeated";
  }
}

TEST_F(RecoverTest, WhatAKilledCaptureLeftGoesAndWhatALivingOneHasStays) {
  shell(path("scratch"),
        "mkdir -p recover-dead/tree/closed && touch recover-dead/tree/closed/x other && "
        "chmod 555 recover-dead/tree/closed");
  const auto living = Staging::create(path("scratch"));
  ASSERT_TRUE(living);
  EXPECT_EQ(shell(path("scratch"), "ls -d recover-* other | wc -l"), "2\n");
  const auto next = Staging::create(path("scratch"));
  ASSERT_TRUE(next);
  EXPECT_TRUE(std::filesystem::exists(living->tree()));
}

TEST_F(RecoverTest, AStreamThatEndsEarlyWithSuccessIsRefusedToo) {
  make_repository();
  source_->alter_stream = [&](int, ExecResult& all) { all.output.resize(1'000); };
  fill_disk_at("capture.sh");
  expect_refused(Failure::kDownload, "cut");
}

TEST_F(RecoverTest, ASourceWithoutToolsCannotBeCaptured) {
  ProcessTransport bare({"env", "-i", "PATH=/nonexistent"}, {"PATH=/usr/bin:/bin"});
  source_.emplace(bare, root());
  expect_refused(Failure::kExportUnsupported, "no find");
}

TEST_F(RecoverTest, AControllerWithoutRoomIsRefusedBeforeTheTransfer) {
  in_sandbox("truncate -s 8T huge");
  request_.limits.bytes = std::uint64_t{1} << 60;
  fill_disk_at("capture.sh");
  expect_refused(Failure::kControllerDiskFull, "no room");
  EXPECT_EQ(source_->streams, 0);
}

TEST_F(RecoverTest, ASaveThatFailsSaysHow) {
  make_repository();
  fill_disk_at("capture.sh");
  seal_error_ = Error::from_errno(ENOSPC, "write a pack");
  expect_refused(Failure::kControllerDiskFull, "store full");
  seal_error_ = Error(ErrorCode::kFailedPrecondition, "writer_conflict: this writer is no longer the one");
  expect_refused(Failure::kWriterConflict, "fenced");
  seal_error_ = Error(ErrorCode::kUnavailable, "no database");
  expect_refused(Failure::kSeal, "no database");
}

TEST_F(RecoverTest, VerificationAndGitShareTwoMinutes) {
  std::chrono::steady_clock::time_point now;
  request_.now = [&now] { return now; };
  make_repository();
  in_sandbox("git init -q sub && cd sub && echo x >x && git add x && git commit -qm x");
  fill_disk_at("capture.sh");
  std::chrono::seconds each{59};
  before_git_ = [&] { now += each; };
  ASSERT_TRUE(save());
  EXPECT_EQ(git_runs_, 2);
  each = std::chrono::seconds(60);
  committed_ = false;
  expect_refused(Failure::kDeadline, "2 x 60 s");
  git_runs_ = 0;
  each = std::chrono::seconds(120);
  expect_refused(Failure::kDeadline, "1 x 120 s");
  EXPECT_EQ(git_runs_, 1) << "no git is started when nothing is left";
}

TEST_F(RecoverTest, ABrokenHistoryIsNoReceipt) {
  make_repository();
  in_sandbox("rm -f .git/objects/$(git rev-parse HEAD:a | sed 's,..,&/,')");
  fill_disk_at("capture.sh");
  expect_refused(Failure::kGitUnverified, "missing blob");
  shell(place_->path(), "rm -rf w && mkdir w");
  make_repository();
  in_sandbox("rm -f .git/objects/$(git rev-parse :staged | sed 's,..,&/,')");
  expect_refused(Failure::kGitUnverified, "missing staged blob");
}

TEST_F(RecoverTest, RepositoriesWithoutACommitAndWithAShaOfTheirOwnAreFine) {
  in_sandbox(
      "git init -q . && echo s >s && git add s && git init -q --object-format=sha256 sub && cd sub && "
      "echo x >x && git add x && git commit -qm x");
  fill_disk_at("capture.sh");
  const auto saved = save();
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(git_runs_, 2);
}

TEST_F(RecoverTest, NothingOfTheRepositoryIsExecuted) {
  make_repository();
  in_sandbox("printf '#!/bin/sh\\ntouch " + path("ran") +
             "\\n' >.git/hooks/post-index-change && chmod +x .git/hooks/*");
  fill_disk_at("capture.sh");
  ASSERT_TRUE(save());
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(RecoverTest, ModesAreKeptUnderARestrictiveUmaskAndOwnersAreNotAdopted) {
  make_repository();
  in_sandbox("mkdir d && chmod 775 d && echo x >d/x && chmod 664 d/x && echo y >d/y && chmod 755 d/y");
  if (::geteuid() == 0) in_sandbox("chown -R 12345:12345 d");
  fill_disk_at("capture.sh");
  const mode_t before = ::umask(077);
  const auto saved = save();
  ::umask(before);
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(saved_entry("d")->mode, 0775U);
  EXPECT_EQ(saved_entry("d/x")->mode, 0664U);
  EXPECT_EQ(saved_entry("d/y")->mode, 0755U);
  EXPECT_EQ(saved_owner_, std::to_string(::geteuid()) + "\n");
}

}  // namespace
}  // namespace cofferdam::recovery
