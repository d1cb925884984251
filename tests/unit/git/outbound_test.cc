#include "git/outbound.h"

#include "repositories.h"

namespace cofferdam::git {
namespace {

using Relation = Integration::Relation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutboundTest : public RepositoriesTest {
 protected:
  void SetUp() override {
    RepositoriesTest::SetUp();
    make_host();
  }
};

TEST_F(OutboundTest, NothingDoneChangesNothing) {
  on_host(
      "echo s >>a && git add a && echo n >new && git add new && git rm -q --cached b && echo i >ita && "
      "git add -N ita");
  const std::string state =
      "git status --porcelain; git for-each-ref; find . -type f -print0 | sort -z | xargs -0 sha256sum";
  const std::string before = on_host(state);
  send();
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Relation::kNothing);
  EXPECT_EQ(settlement_.changed, 0U);
  EXPECT_EQ(on_host(state), before);
}

TEST_F(OutboundTest, FastForwardsTheCheckedOutBranch) {
  send();
  in_sandbox("echo more >>a && git commit -qam second && git rm -q b && git commit -qm third");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Relation::kFastForward);
  EXPECT_EQ(home.integration->branch, "refs/heads/main");
  EXPECT_EQ(on_host("git rev-parse HEAD"), in_sandbox("git rev-parse HEAD"));
  EXPECT_EQ(host_status(), "");
  EXPECT_EQ(on_host("git rev-parse refs/paperclip/git-sync/imported/sandbox/run-1/HEAD"),
            in_sandbox("git rev-parse HEAD"));
  EXPECT_THAT(on_host("git reflog"), HasSubstr("cofferdam: history of a run"));
  on_host("git fsck --strict");
}

TEST_F(OutboundTest, TransfersOnlyWhatIsNew) {
  on_host("head -c 300000 /dev/urandom >big && git add big && git commit -qm big");
  send();
  in_sandbox("echo more >>a && git commit -qam second");
  const Homecoming home = bring_home();
  struct stat status{};
  ASSERT_EQ(::stat(home.exported.bundle.c_str(), &status), 0);
  EXPECT_LT(status.st_size, 10'000);
}

TEST_F(OutboundTest, MergesDivergedHistoriesWithAFixedIdentity) {
  send();
  in_sandbox("echo sandbox >>a && git commit -qam sandbox");
  on_host("echo host >>b && git commit -qam host");
  const std::string imported = in_sandbox("git rev-parse HEAD");
  const Homecoming home = bring_home();
  ASSERT_TRUE(home.integration);
  EXPECT_EQ(home.integration->relation, Relation::kMerged);
  EXPECT_EQ(on_host("git log -1 --format='%an <%ae> %cn <%ce> %s'"),
            "Paperclip <noreply@paperclip.ing> Paperclip <noreply@paperclip.ing> Paperclip remote git sync merge " +
                imported.substr(0, 12) + "\n");
  EXPECT_EQ(on_host("git log -1 --format=%P"), home.integration->old_head + " " + imported);
  EXPECT_EQ(on_host("git show HEAD:a HEAD:b"), "a\nsandbox\nb\nhost\n");
}

TEST_F(OutboundTest, ReportsAConflictAndKeepsTheCommits) {
  send();
  in_sandbox("echo sandbox >a && git commit -qam sandbox");
  on_host("echo host >a && git commit -qam host");
  const std::string head = on_host("git rev-parse HEAD");
  const std::string imported = in_sandbox("git rev-parse HEAD");
  const Homecoming home = bring_home();
  ASSERT_TRUE(home.failure);
  EXPECT_EQ(home.failure->message(), "Failed to merge concurrent remote git histories for " + head.substr(0, 12) +
                                         " and " + imported.substr(0, 12) + ": conflict in a");
  EXPECT_EQ(on_host("git rev-parse HEAD"), head);
  EXPECT_EQ(on_host("git rev-parse " + home.imported.prefix + "/HEAD"), imported);
  EXPECT_EQ(host_status(), "");
}

TEST_F(OutboundTest, GraftsUnrelatedHistory) {
  send();
  in_sandbox("rm -rf .git && git init -q . && git add . && git commit -qm 'From nothing'");
  const std::string head = on_host("git rev-parse HEAD");
  const std::string imported = in_sandbox("git rev-parse HEAD");
  const Homecoming home = bring_all_home();
  ASSERT_TRUE(home.integration);
  EXPECT_EQ(home.integration->relation, Relation::kGrafted);
  EXPECT_EQ(on_host("git log -1 --format=%B%P"),
            "From nothing\n\n(Paperclip remote git sync graft " + imported.substr(0, 12) +
                ": imported history shares no ancestor with " + head.substr(0, 12) + ")\n" + head);
  EXPECT_EQ(host_status(), "");
}

TEST_F(OutboundTest, DoesNotGraftWhenGitFails) {
  send();
  in_sandbox("rm -rf .git && git init -q . && git add . && git commit -qm x");
  struct Broken : GitProgram {
    explicit Broken(GitProgram& real) : git(real) {}
    Result<GitOutput> run(const GitCommand& command) override {
      if (command.arguments.front() == "merge-base" && command.arguments[1] != "--is-ancestor") {
        return GitOutput{.exit_code = 128, .standard_output = {}, .standard_error = "fatal: broken"};
      }
      return git.run(command);
    }
    GitProgram& git;
  } broken(git_);
  const auto home = bring_history_home(broken, host(), export_request());
  ASSERT_TRUE(home);
  ASSERT_TRUE(home->failure);
  EXPECT_THAT(home->failure->message(), HasSubstr("git merge-base failed: fatal: broken"));
}

TEST_F(OutboundTest, SendsEverythingWhenTheHostLostTheBase) {
  send();
  in_sandbox("echo more >>a && git commit -qam second");
  on_host("rm -rf .git && git init -q . && git add . && git commit -qm other --date=2001-01-01T00:00:00");
  const Homecoming home = bring_home();
  ASSERT_TRUE(home.integration) << home.failure->to_string();
  EXPECT_EQ(home.integration->relation, Relation::kGrafted);
  EXPECT_EQ(on_host("git show HEAD:a"), "a\nmore\n");
}

TEST_F(OutboundTest, GivesUpAfterFiveLostRaces) {
  send();
  in_sandbox("echo more >>a && git commit -qam second");
  struct Racing : GitProgram {
    Racing(GitProgram& real, std::string path) : git(real), host(std::move(path)) {}
    Result<GitOutput> run(const GitCommand& command) override {
      if (command.arguments.front() == "update-ref" && contains_branch(command)) {
        ++attempts;
        run_shell(host, "git commit -q --allow-empty -m race" + std::to_string(attempts));
      }
      return git.run(command);
    }
    static bool contains_branch(const GitCommand& command) {
      return std::ranges::find(command.arguments, "refs/heads/main") != command.arguments.end();
    }
    GitProgram& git;
    std::string host;
    int attempts = 0;
  } racing(git_, host());
  const auto home = bring_history_home(racing, host(), export_request());
  ASSERT_TRUE(home);
  ASSERT_TRUE(home->failure);
  EXPECT_EQ(racing.attempts, 5);
  EXPECT_EQ(home->failure->message(), "Failed to integrate concurrent remote git history for " +
                                          in_sandbox("git rev-parse HEAD").substr(0, 12) + " after multiple retries.");
}

TEST_F(OutboundTest, BranchesAndTagsKeepTheirNames) {
  on_host("git branch moved-here && git branch taken && git branch forward");
  send();
  in_sandbox(
      "git checkout -q -b agent/work && echo w >w && git add w && git commit -qm work && git tag v1 && "
      "git tag -a -m annotated v2 && git branch -f moved-here && git branch -f forward && "
      "git branch -f taken && git checkout -q main");
  on_host("echo h >h && git add h && git commit -qm h && git branch -f taken && git tag v1");
  const Homecoming home = bring_all_home();
  EXPECT_THAT(home.imported.created, ElementsAre("refs/heads/agent/work", "refs/tags/v2"));
  EXPECT_THAT(home.imported.forwarded, ElementsAre("refs/heads/forward", "refs/heads/moved-here"));
  ASSERT_EQ(home.imported.kept.size(), 2U);
  EXPECT_EQ(home.imported.kept[0].name, "refs/heads/taken");
  EXPECT_EQ(home.imported.kept[1].name, "refs/tags/v1");
  EXPECT_EQ(on_host("git rev-parse agent/work"), in_sandbox("git rev-parse agent/work"));
  EXPECT_EQ(on_host("git rev-parse refs/paperclip/git-sync/imported/sandbox/run-1/heads/taken"),
            in_sandbox("git rev-parse taken"));
  EXPECT_EQ(on_host("git cat-file -t v2"), "tag\n");
  EXPECT_TRUE(forget_imported(git_, host(), "run-1", path("scratch")));
  EXPECT_EQ(on_host("git for-each-ref refs/paperclip"), "");
  EXPECT_EQ(on_host("git rev-parse agent/work"), in_sandbox("git rev-parse agent/work"));
}

TEST_F(OutboundTest, StashComesHomeUnderTheRun) {
  send();
  in_sandbox("echo w >>a && git stash -q");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(on_host("git show refs/paperclip/git-sync/imported/sandbox/run-1/stash:a"), "a\nw\n");
}

TEST_F(OutboundTest, AgentsBranchIsCreatedAndIntegrated) {
  send();
  in_sandbox("git checkout -q -b agent && echo w >w && git add w && git commit -qm work");
  const Homecoming home = bring_all_home();
  EXPECT_THAT(home.imported.created, ElementsAre("refs/heads/agent"));
  EXPECT_EQ(home.integration->relation, Relation::kFastForward);
  EXPECT_EQ(on_host("git symbolic-ref HEAD"), "refs/heads/main\n");
  EXPECT_EQ(host_status(), "");
}

TEST_F(OutboundTest, MayBeRepeatedAfterACrash) {
  send();
  in_sandbox("echo w >>a && git commit -qam w && git rm -q b && git commit -qm b && echo s >>dir/c && git add dir/c");
  on_host("echo h >h && git add h && git commit -qm h && echo mine >mine && git add mine");
  EXPECT_EQ(bring_home().integration->relation, Relation::kMerged);
  const std::string head = on_host("git rev-parse HEAD");
  for (int round = 0; round < 2; ++round) {
    const Homecoming again = bring_home();
    EXPECT_EQ(again.integration->relation, Relation::kNothing);
    ASSERT_TRUE(settle_index(git_, host(), again.exported, *again.integration, path("scratch")));
    EXPECT_EQ(on_host("git diff --cached --name-status"), "M\tdir/c\nA\tmine\n");
    EXPECT_EQ(on_host("git rev-parse HEAD"), head);
  }
}

TEST_F(OutboundTest, SubmodulesAreNamedAndNotEntered) {
  run_shell(root_->path(), "git init -q lib && cd lib && echo l >l && git add l && git commit -qm l");
  on_host("git submodule --quiet add ../lib lib && git commit -qm lib");
  send();
  in_sandbox("cd lib && echo 2 >>l && git commit -qam 2 && cd .. && git commit -qam moved");
  const auto home = try_bring_home();
  ASSERT_TRUE(home) << home.error().to_string();
  ASSERT_TRUE(home->integration);
  EXPECT_THAT(home->exported.notes,
              ElementsAre("The submodule lib is at commit " + in_sandbox("git rev-parse HEAD:lib").substr(0, 12) +
                          " now, which stays in the sandbox."));
  EXPECT_EQ(on_host("git rev-parse HEAD"), in_sandbox("git rev-parse HEAD"));
  EXPECT_EQ(on_host("git -C lib log --format=%s"), "l\n");
}

TEST_F(OutboundTest, UnbornHeadOnBothSides) {
  on_host("rm -rf .git && git init -q .");
  on_host("rm -rf .git/logs");
  send();
  EXPECT_EQ(bring_all_home().integration->relation, Relation::kNothing);
  EXPECT_EQ(on_host("find .git -type f -path '*objects*'; ls -d .git/logs 2>/dev/null || true"), "");
  in_sandbox("git add . && git commit -qm born");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Relation::kFastForward);
  EXPECT_EQ(on_host("git rev-parse main"), in_sandbox("git rev-parse HEAD"));
  EXPECT_EQ(host_status(), "");
}

TEST_F(OutboundTest, DetachedHeadMoves) {
  on_host("git checkout -q --detach");
  send();
  in_sandbox("echo more >>a && git commit -qam second");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->branch, "");
  EXPECT_EQ(on_host("git rev-parse HEAD"), in_sandbox("git rev-parse HEAD"));
  EXPECT_NE(on_host("git rev-parse HEAD"), on_host("git rev-parse main"));
  EXPECT_EQ(host_status(), "");
  EXPECT_THAT(on_host("git reflog"), HasSubstr("cofferdam: history of a run"));
}

TEST_F(OutboundTest, Sha256Repositories) {
  on_host("rm -rf .git && git init -q --object-format=sha256 . && git add . && git commit -qm first");
  send();
  in_sandbox("echo more >>a && git commit -qam second && echo staged >s && git add s");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Relation::kFastForward);
  EXPECT_EQ(host_status(), "A  s\n");
}

TEST_F(OutboundTest, LinkedWorktreeAsHost) {
  run_shell(root_->path(), "mv host main && git -C main worktree add -q -b side ../host");
  run_shell(root_->path(), "git clone -q --no-local host sandbox");
  const auto layout = read_layout(sandbox());
  ASSERT_TRUE(layout);
  ASSERT_TRUE(record_history_base(*layout, path("base")));
  in_sandbox("echo more >>a && git commit -qam second");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->branch, "refs/heads/side");
  EXPECT_EQ(on_host("git rev-parse side"), in_sandbox("git rev-parse HEAD"));
  EXPECT_EQ(host_status(), "");
  EXPECT_EQ(run_shell(path("main"), "git status --porcelain"), "");
}

TEST_F(OutboundTest, HoldsBackWhileTheHostMerges) {
  on_host(
      "git checkout -q -b other && echo o >a && git commit -qam o && git checkout -q main && echo m >a && git commit "
      "-qam m");
  send();
  in_sandbox("echo more >>b && git commit -qam second");
  on_host("git merge -q other || true");
  const std::string before = on_host("git status --porcelain; git rev-parse HEAD");
  const Homecoming home = bring_home();
  EXPECT_EQ(home.integration->relation, Relation::kHeldBack);
  EXPECT_EQ(home.integration->reason, "a merge is in progress on the host");
  EXPECT_EQ(on_host("git status --porcelain; git rev-parse HEAD"), before);
}

TEST_F(OutboundTest, RepositoryThatIsGoneOrPointsElsewhere) {
  send();
  in_sandbox("rm -rf .git");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kNotFound);
  in_sandbox("echo 'gitdir: " + host() + "/.git' >.git");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kPermissionDenied);
  in_sandbox("rm .git && ln -s " + host() + "/.git .git");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(OutboundTest, BoundsOfRefsAndBytes) {
  send();
  in_sandbox("git branch one && git branch two && echo x >>a && git commit -qam x");
  ExportRequest request = export_request();
  request.bounds.refs = 3;
  EXPECT_TRUE(export_history(git_, request));
  request.bounds.refs = 2;
  EXPECT_EQ(export_history(git_, request).error().code(), ErrorCode::kResourceExhausted);
  request = export_request();
  request.bounds.bundle_bytes = 10;
  EXPECT_EQ(export_history(git_, request).error().code(), ErrorCode::kResourceExhausted);
}

TEST_F(OutboundTest, RefusesABundleWithABadObject) {
  send();
  // A tree entry named ".git": fsck refuses it, git's own commands would not make it.
  in_sandbox(
      "blob=$(echo x | git hash-object -w --stdin) && "
      "tree=$(printf '100644 .git\\0' >../t; printf \"$(echo $blob | sed 's/../\\\\x&/g')\" >>../t 2>/dev/null || "
      "true; "
      "python3 -c \"import sys;sys.stdout.buffer.write(b'100644 .git\\\\0'+bytes.fromhex('$blob'))\" >../t; "
      "git hash-object -w -t tree --literally ../t) && "
      "git update-ref HEAD $(git commit-tree $tree -p HEAD -m bad)");
  const std::string head = on_host("git rev-parse HEAD");
  const auto home = try_bring_home();
  ASSERT_FALSE(home);
  EXPECT_THAT(home.error().message(), HasSubstr("hasDotgit"));
  EXPECT_EQ(on_host("git rev-parse HEAD; git for-each-ref refs/paperclip"), head);
}

// --- the index: §2.4 of the reference, with what is staged kept

TEST_F(OutboundTest, AgentsStagingComesHome) {
  send();
  in_sandbox(
      "echo s >>a && git add a && echo n >new && git add new && git rm -q --cached b && echo u >>dir/c && "
      "echo i >intent && git add -N intent && echo x >untracked");
  const std::string wanted = in_sandbox("git status --porcelain");
  bring_all_home();
  EXPECT_EQ(host_status(), wanted);
  EXPECT_EQ(on_host("git diff --cached"), in_sandbox("git diff --cached"));
  on_host("git fsck --strict");
}

TEST_F(OutboundTest, HostsStagingStaysStaged) {
  on_host("echo s >>a && git add a && echo n >new && git add new && echo u >>b && git rm -q dir/c");
  const std::string before = host_status();
  send();
  in_sandbox("echo w >w && git add w && git commit -qm work w");
  bring_all_home();
  EXPECT_EQ(host_status(), before);
}

TEST_F(OutboundTest, WhatTheAgentCommittedOfTheHostsStagingIsNoLongerStaged) {
  on_host("echo s >>a && git add a && echo n >new && git add new");
  send();
  in_sandbox("git commit -qm 'all of it'");
  bring_all_home();
  EXPECT_EQ(host_status(), "");
}

TEST_F(OutboundTest, WhatTheAgentUnstagedIsNoLongerStaged) {
  on_host("echo s >>a && git add a");
  send();
  in_sandbox("git reset -q");
  bring_all_home();
  EXPECT_EQ(host_status(), " M a\n");
}

TEST_F(OutboundTest, WhatTheHostStagedMeanwhileStays) {
  send();
  in_sandbox("echo w >>a && git add a && echo w >>b && git add b");
  on_host("echo h >>b && git add b && echo h >>dir/c && git add dir/c");
  const std::string mine = on_host("git diff --cached -- b dir/c");
  const Homecoming home = bring_home();
  const auto settled = settle_index(git_, host(), home.exported, *home.integration, path("scratch"));
  ASSERT_TRUE(settled);
  EXPECT_THAT(settled->conflicts, ElementsAre("b"));
  EXPECT_EQ(on_host("git diff --cached -- b dir/c"), mine);
  EXPECT_EQ(on_host("git show :a"), "a\nw\n");
  // What the host did not take is still there.
  EXPECT_THAT(on_host("git ls-tree " + home.imported.prefix + "/index"),
              HasSubstr(in_sandbox("git rev-parse :b").substr(0, 40)));
}

TEST_F(OutboundTest, TheIndexFollowsAMerge) {
  send();
  in_sandbox("echo w >>a && git commit -qam w && echo s >>dir/c && git add dir/c");
  on_host("echo h >>b && git commit -qam h && git mv dir other && git commit -qm mv");
  const Homecoming home = bring_home();
  ASSERT_TRUE(home.integration);
  const auto settled = settle_index(git_, host(), home.exported, *home.integration, path("scratch"));
  ASSERT_TRUE(settled);
  EXPECT_THAT(settled->conflicts, ElementsAre("dir/c"));
  EXPECT_EQ(on_host("git diff --cached --name-only HEAD"), "");
}

TEST_F(OutboundTest, ConflictsInTheIndexTravel) {
  on_host(
      "git checkout -q -b other && echo o >a && git commit -qam o && git checkout -q main && echo m >a && git commit "
      "-qam m");
  send();
  in_sandbox("git merge -q other || true");
  const std::string wanted = in_sandbox("git ls-files -u");
  bring_all_home();
  EXPECT_NE(wanted, "");
  EXPECT_EQ(on_host("git ls-files -u"), wanted);
}

TEST_F(OutboundTest, NamesAreBytes) {
  on_host(
      "printf x >'-dash' && printf x >'new\nline' && printf x >' padded ' && printf x >'*' && printf x >'._a' && "
      "printf x >\"$(printf 'latin\\351')\" && git add -A && git commit -qm names");
  send();
  in_sandbox("for f in ./*; do [ -f \"$f\" ] && printf y >>\"$f\"; done; git add -A");
  const std::string wanted = in_sandbox("git status --porcelain -z");
  const Homecoming home = bring_home();
  ASSERT_TRUE(settle_index(git_, host(), home.exported, *home.integration, path("scratch")));
  EXPECT_EQ(on_host("git diff --cached -z --name-only"), in_sandbox("git diff --cached -z --name-only"));
}

TEST_F(OutboundTest, SplitIndexAndLockedIndex) {
  on_host("git update-index --split-index && echo s >>a && git add a");
  send();
  in_sandbox("echo s >>b && git add b");
  const Homecoming home = bring_home();
  on_host("touch .git/index.lock");
  EXPECT_EQ(settle_index(git_, host(), home.exported, *home.integration, path("scratch")).error().code(),
            ErrorCode::kUnavailable);
  on_host("rm .git/index.lock");
  ASSERT_TRUE(settle_index(git_, host(), home.exported, *home.integration, path("scratch")));
  EXPECT_EQ(on_host("git diff --cached --name-only; ls .git/*.lock 2>/dev/null || true"), "a\nb\n");
}

}  // namespace
}  // namespace cofferdam::git
