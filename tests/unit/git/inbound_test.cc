#include "git/inbound.h"

#include <fstream>

#include "repositories.h"

namespace cofferdam::git {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InboundTest : public RepositoriesTest {
 protected:
  Layout layout() const {
    auto layout = read_layout(host());
    EXPECT_TRUE(layout) << layout.error().to_string();
    return layout ? *std::move(layout) : Layout{};
  }
  WorkingTree tree() {
    auto tree = list_working_tree(git_, layout(), path("scratch"));
    EXPECT_TRUE(tree) << tree.error().to_string();
    return tree ? *std::move(tree) : WorkingTree{};
  }
  // The host's history in sandbox/.git, and every file but .git.
  void prepare(Depth depth) {
    run_shell(root_->path(), "mkdir sandbox && cp -a host/. sandbox && rm -rf sandbox/.git");
    const Status made = make_standalone_history(git_, layout(), depth, sandbox() + "/.git", path("scratch"));
    ASSERT_TRUE(made) << made.error().to_string();
    in_sandbox("git fsck --strict --no-dangling");
  }
};

TEST_F(InboundTest, FullHistoryWithItsIndex) {
  make_host();
  on_host(
      "echo 2 >>a && git commit -qam second && git tag v1 && git branch side HEAD~1 && echo s >>a && git add a && "
      "echo u >>a && echo n >n && git add n && git rm -q --cached b && rm dir/c && echo i >i && git add -N i && "
      "echo '/ignored' >>.git/info/exclude && echo x >ignored && git stash list");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("git status --porcelain; git log --oneline --all"),
            on_host("git status --porcelain; git log --oneline --all"));
  EXPECT_EQ(in_sandbox("git diff --cached"), on_host("git diff --cached"));
  EXPECT_EQ(in_sandbox("ls .git/objects/pack/*.pack | wc -l; ls -A .git | grep -c -e hooks -e logs || true"), "1\n0\n");
}

TEST_F(InboundTest, OneCommitOnItsBranch) {
  make_host();
  on_host("echo 2 >>a && git commit -qam second && git branch side && git tag v1 && echo s >>a && git add a");
  prepare(Depth::kOne);
  EXPECT_EQ(in_sandbox("git log --oneline | wc -l; git for-each-ref --format='%(refname)'; git status --porcelain"),
            "1\nrefs/heads/main\nM  a\n");
  EXPECT_EQ(in_sandbox("git rev-parse HEAD"), on_host("git rev-parse HEAD"));
}

TEST_F(InboundTest, ShallowWorkComesHome) {
  make_host();
  on_host("echo 2 >>a && git commit -qam second");
  prepare(Depth::kOne);
  const auto sent = read_layout(sandbox());
  ASSERT_TRUE(sent);
  ASSERT_TRUE(record_history_base(*sent, path("base")));
  in_sandbox("echo 3 >>a && git commit -qam third");
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Integration::Relation::kFastForward);
  EXPECT_EQ(on_host("git log --oneline | wc -l; git status --porcelain"), "3\n");
}

TEST_F(InboundTest, PushesToARemoteThatHasTheBase) {
  make_host();
  on_host(
      "git clone -q --bare . ../remote.git && echo 2 >>a && git commit -qam second && git push -q ../remote.git main");
  prepare(Depth::kOne);
  in_sandbox("echo 3 >>a && git commit -qam third && git push -q ../remote.git main");
  EXPECT_EQ(run_shell(path("remote.git"), "git rev-parse main"), in_sandbox("git rev-parse HEAD"));
}

TEST_F(InboundTest, UnbornDetachedAndSha256) {
  on_host("git init -q . && echo a >a && git add a");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("git status --porcelain; git symbolic-ref HEAD"), "A  a\nrefs/heads/main\n");
  run_shell(root_->path(), "rm -rf sandbox host && mkdir host");
  make_host("--object-format=sha256");
  on_host("git checkout -q --detach");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("git rev-parse HEAD --abbrev-ref HEAD"), on_host("git rev-parse HEAD --abbrev-ref HEAD"));
}

TEST_F(InboundTest, RemotesTravelWithoutTheirSecrets) {
  make_host();
  on_host(
      "git remote add origin https://me:token@example.com/x.git && git remote add disk /srv/x && "
      "git config core.fsmonitor evil && git config include.path ../../outside/passwd && git config user.name Me");
  prepare(Depth::kOne);
  EXPECT_EQ(in_sandbox("git remote -v"),
            "origin\thttps://example.com/x.git (fetch)\norigin\thttps://example.com/x.git (push)\n");
  EXPECT_THAT(in_sandbox("cat .git/config"),
              testing::Not(testing::AnyOf(HasSubstr("token"), HasSubstr("evil"), HasSubstr("passwd"))));
  EXPECT_EQ(in_sandbox("git config user.name"), "Me\n");
}

TEST_F(InboundTest, LinkedWorktreeSubmoduleAndSharedBecomeStandalone) {
  make_host();
  run_shell(root_->path(), "mv host main && git -C main worktree add -q -b side ../host");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("git symbolic-ref HEAD; git status --porcelain; ls -A .git/worktrees 2>/dev/null || true"),
            "refs/heads/side\n");
  run_shell(root_->path(),
            "git -C main worktree remove --force ../host && rm -rf sandbox && git clone -q --shared main host");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("ls .git/objects/info"), "");
  run_shell(root_->path(),
            "rm -rf sandbox host && git init -q super && cd super && git submodule --quiet add ../main sub && "
            "git commit -qm sub && cd .. && ln -s super/sub host");
  auto submodule = read_layout(path("super/sub"));
  ASSERT_TRUE(submodule);
  ASSERT_TRUE(make_standalone_history(git_, *submodule, Depth::kFull, path("standalone"), path("scratch")));
  EXPECT_EQ(run_shell(root_->path(), "git --git-dir=standalone log --format=%s"), "first\n");
}

TEST_F(InboundTest, ConflictsAndOperationsInProgress) {
  make_host();
  on_host(
      "git checkout -q -b o && echo o >a && git commit -qam o && git checkout -q main && echo m >a && "
      "git commit -qam m && git merge -q o || true");
  const Status refused = make_standalone_history(git_, layout(), Depth::kFull, path("made"), path("scratch"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("A merge is in progress in"));
  EXPECT_EQ(run_shell(root_->path(), "ls -d made 2>/dev/null || true; ls scratch"), "");
  on_host("rm .git/MERGE_HEAD");
  prepare(Depth::kFull);
  EXPECT_EQ(in_sandbox("git ls-files -u"), on_host("git ls-files -u"));
}

TEST_F(InboundTest, ListsTheWorkingTree) {
  make_host();
  on_host(
      "printf '*.log\\nbuild/\\n' >.gitignore && printf x >gone && git add . && git commit -qm more && rm gone && "
      "mkdir build sub && printf x >build/x && printf x >sub/x.log && printf x >'sub/*' && printf x >' padded ' && "
      "printf x >'-dash' && printf x >'new\nline' && printf x >\"$(printf 'l\\351')\" && echo s >>a && git add a && "
      "echo u >>b && git init -q nested && mkdir empty && printf x >made && git add made && rm made");
  const WorkingTree listed = tree();
  EXPECT_THAT(listed.overlay, ElementsAre(" padded ", "-dash", "a", "b", "l\xE9", "new\nline", "sub/*"));
  EXPECT_THAT(listed.deleted, ElementsAre("gone"));
  EXPECT_THAT(listed.ignored, ElementsAre("build", "sub/x.log"));
  EXPECT_THAT(listed.nested, ElementsAre("nested"));
  const Status sendable = check_sendable(layout(), listed);
  ASSERT_FALSE(sendable);
  EXPECT_THAT(sendable.error().message(), HasSubstr("holds the repository nested"));
}

TEST_F(InboundTest, ListsSubmodulesAndFilteredFiles) {
  make_host();
  run_shell(root_->path(), "git init -q lib && cd lib && echo l >l && git add l && git commit -qm l");
  on_host(
      "git submodule --quiet add ../lib lib && git commit -qm lib && echo '*.bin filter=lfs' >.gitattributes && "
      "echo pointer >x.bin && git add . && git commit -qm lfs");
  const WorkingTree listed = tree();
  EXPECT_THAT(listed.nested, ElementsAre("lib"));
  EXPECT_THAT(listed.overlay, ElementsAre("x.bin"));
  on_host("git submodule --quiet deinit -f lib");
  EXPECT_THAT(tree().nested, IsEmpty());
  EXPECT_TRUE(check_sendable(layout(), tree()));
}

TEST_F(InboundTest, ListingRunsNothing) {
  make_host();
  on_host("printf '#!/bin/sh\\necho ran >>" + trap() +
          "\\ncat\\n' >../outside/t && chmod +x ../outside/t && "
          "echo '* filter=evil' >.gitattributes && git add . && git commit -qm x && git config filter.evil.clean " +
          path("outside/t") + " && git config filter.evil.process " + path("outside/t") +
          " && git config core.fsmonitor " + path("outside/t") + " && touch a b && echo x >>a");
  EXPECT_THAT(tree().overlay, testing::Contains("a"));
  ASSERT_TRUE(make_standalone_history(git_, layout(), Depth::kFull, path("made"), path("scratch")));
  EXPECT_FALSE(was_trapped());
}

}  // namespace
}  // namespace cofferdam::git
