// A repository that an agent prepared so that whoever looks at it runs its commands or reads its targets.
#include <algorithm>

#include "repositories.h"

namespace cofferdam::git {
namespace {

using testing::HasSubstr;

class HostileTest : public RepositoriesTest {
 protected:
  void SetUp() override {
    RepositoriesTest::SetUp();
    make_host();
    send();
    trap_script_ = path("outside/trap.sh");
    run_shell(root_->path(), "printf '#!/bin/sh\\necho \"$0 $@\" >>" + trap() +
                                 "\\ncat\\n' >outside/trap.sh && "
                                 "chmod +x outside/trap.sh && echo secret >outside/secret");
  }

  // Everything that a configuration can name, in the repository of `directory`.
  void set_traps(const std::string& directory) const {
    const std::string& t = trap_script_;
    std::string script = "cat >>.git/config <<'END'\n";
    script += "[core]\nfsmonitor = " + t + "\nhooksPath = " + path("outside/hooks") + "\nsshCommand = " + t +
              "\npager = " + t + "\neditor = " + t + "\naskPass = " + t + "\nalternateRefsCommand = " + t +
              "\nattributesFile = " + path("outside/attributes") + "\nexcludesFile = " + path("outside/secret") + "\n";
    script += "[filter \"evil\"]\nclean = " + t + "\nsmudge = " + t + "\nprocess = " + t + "\nrequired = true\n";
    script += "[diff]\nexternal = " + t + "\n[diff \"evil\"]\ntextconv = " + t + "\ncommand = " + t + "\n";
    script += "[merge \"evil\"]\ndriver = " + t + " %O %A %B\n[include]\npath = " + path("outside/included") + "\n";
    script += "[alias]\n";
    for (const char* verb : {"bundle", "cat-file", "update-ref", "diff-index", "merge-tree"}) {
      script += std::string(verb) + " = !" + t + "\n";
    }
    script += "[uploadpack]\npackObjectsHook = " + t + "\n[gpg]\nprogram = " + t + "\n[commit]\ngpgSign = true\n";
    script += "[protocol \"ext\"]\nallow = always\n[remote \"origin\"]\nurl = ext::" + t +
              "\npromisor = true\nvcs = evil\n[credential]\nhelper = " + t + "\n[sequence]\neditor = " + t + "\n";
    script += "[submodule \"s\"]\nurl = ext::" + t + "\nupdate = !" + t + "\nEND\n";
    script += "printf '[core]\\nfsmonitor = " + t + "\\n[alias]\\nmktree = !" + t + "\\n' >" + path("outside/included");
    script += "\nprintf '* filter=evil diff=evil merge=evil\\n' | tee .gitattributes .git/info/attributes >" +
              path("outside/attributes") + "\n";
    script += "mkdir -p .git/hooks " + path("outside/hooks") +
              "\nfor hook in reference-transaction post-index-change "
              "pre-commit post-commit update post-update pre-auto-gc fsmonitor-watchman pre-receive post-receive "
              "proc-receive post-rewrite pre-push post-checkout post-merge; do cp " +
              t + " .git/hooks/$hook; cp " + t + " " + path("outside/hooks") + "/$hook; done\n";
    run_shell(directory, script);
  }

  std::string trap_script_;
};

TEST_F(HostileTest, TheTrapsWork) {
  set_traps(sandbox());
  in_sandbox("git status >/dev/null 2>&1 || true");
  EXPECT_TRUE(was_trapped());
}

TEST_F(HostileTest, NothingIsExecutedOnTheWayHome) {
  in_sandbox(
      "echo w >w && git add w && git commit -qm w && git branch made && echo s >>a && git add a && "
      "echo i >i && git add -N i && printf '[submodule \"s\"]\\npath = s\\nurl = ext::x\\n' >.gitmodules && "
      "git add .gitmodules && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s");
  on_host("echo h >>b && git commit -qam h");
  set_traps(sandbox());
  const Homecoming home = bring_all_home();
  EXPECT_EQ(home.integration->relation, Integration::Relation::kMerged);
  EXPECT_FALSE(was_trapped());
  EXPECT_THAT(host_status(), HasSubstr("A  .gitmodules\n"));
}

// The host's own configuration is the user's, but an earlier agent may have written it.
TEST_F(HostileTest, NothingIsExecutedForTheHostsConfigurationEither) {
  in_sandbox("echo w >>a && git commit -qam w && echo s >>dir/c && git add dir/c && echo i >i && git add -N i");
  on_host("echo h >>a && git add a && git commit -qm h --allow-empty && echo x >>b && git add b");
  set_traps(host());
  run_shell(root_->path(), "rm -f outside/ran");
  const Homecoming home = bring_home();
  ASSERT_TRUE(home.failure);  // both changed a: the merge driver is not asked
  run_shell(root_->path(), "cp sandbox/i host/i");
  EXPECT_TRUE(settle_index(git_, host(), home.exported,
                           {.branch = "refs/heads/main",
                            .old_head = home.exported.base_head.id,
                            .new_head = home.exported.head.id,
                            .reason = {}},
                           path("scratch")));
  EXPECT_TRUE(forget_imported(git_, host(), "run-1", path("scratch")));
  EXPECT_FALSE(was_trapped());
}

TEST_F(HostileTest, ObjectsFromOutsideAreRefused) {
  run_shell(root_->path(),
            "git init -q outside/other && cd outside/other && echo secret >s && git add s && git commit -qm s");
  in_sandbox("echo " + path("outside/other/.git/objects") + " >.git/objects/info/alternates");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kPermissionDenied);
  in_sandbox("printf '../../../outside/other/.git/objects\\n' >.git/objects/info/alternates");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kPermissionDenied);
  in_sandbox("rm .git/objects/info/alternates && ln -s " + path("outside/other/.git/objects") +
             "/* .git/objects/ 2>/dev/null || true");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(HostileTest, LinksInTheGitDirectoryAreNotFollowed) {
  for (const char* victim : {"config", "index", "packed-refs", "shallow", "HEAD"}) {
    run_shell(root_->path(), "rm -rf sandbox base && mkdir base");
    send();
    in_sandbox("echo w >>a && git commit -qam w && rm -f .git/" + std::string(victim) + " && ln -s " +
               path("outside/secret") + " .git/" + victim);
    const auto home = try_bring_home();
    EXPECT_FALSE(home && home->integration && home->integration->relation != Integration::Relation::kNothing) << victim;
    if (!home) EXPECT_THAT(home.error().to_string(), testing::Not(HasSubstr("secret"))) << victim;
  }
  run_shell(root_->path(), "rm -rf sandbox base && mkdir base");
  send();
  in_sandbox("ln -s " + path("outside/secret") +
             " .git/refs/heads/link && mkfifo .git/refs/heads/fifo && "
             "echo 'ref: refs/heads/main' >.git/refs/heads/symbolic");
  EXPECT_TRUE(bring_home().integration);
  in_sandbox("mv .git/refs ../outside/refs && ln -s ../../outside/refs .git/refs");
  EXPECT_EQ(try_bring_home().error().code(), ErrorCode::kNotFound);  // git itself would take it for none of its own
}

TEST_F(HostileTest, ReplacementsGraftsAndBadNamesMeanNothing) {
  in_sandbox(
      "echo w >>a && git commit -qam w && git replace HEAD HEAD~1 && "
      "id=$(git rev-parse HEAD) && git --no-replace-objects rev-parse HEAD >.git/info/grafts && "
      "printf \"$id refs/heads/../../evil\\n$id refs/heads/x.lock\\n$id refs/heads/-option\\n$id evil\\n\" "
      ">>.git/packed-refs && "
      "echo $id >'.git/refs/heads/sp ace' && echo $id >.git/refs/heads/HEAD");
  const std::string head = in_sandbox("git --no-replace-objects rev-parse main");
  auto home = bring_home();
  ASSERT_TRUE(home.integration);
  EXPECT_EQ(on_host("git rev-parse HEAD"), head);
  EXPECT_THAT(home.imported.created, testing::IsEmpty());
  EXPECT_EQ(on_host("git for-each-ref --format='%(refname)' refs/heads"), "refs/heads/main\n");
}

TEST_F(HostileTest, NamesThatNoIndexMayHoldStayOutside) {
  in_sandbox(
      "mkdir .gix && echo x >.gix/config && git add .gix && echo s >>a && git add a && "
      "sed -i 's,[.]gix/config,.git/config,' .git/index && git ls-files | grep -q '^.git/config$'");
  const auto home = try_bring_home();
  ASSERT_TRUE(home) << home.error().to_string();
  EXPECT_EQ(home->exported.notes.size(), 1U);
  ASSERT_TRUE(settle_index(git_, host(), home->exported, *home->integration, path("scratch")));
  EXPECT_EQ(on_host("git diff --cached --name-only"), "a\n");
}

TEST_F(HostileTest, CorruptObjectsAreRefused) {
  in_sandbox(
      "echo w >>a && git commit -qam w && f=.git/objects/$(git rev-parse HEAD | sed 's,..,&/,') && chmod u+w $f && "
      "head -c 20 /dev/urandom >$f");
  const std::string before = on_host("git rev-parse HEAD; git for-each-ref; find .git -type f | sort");
  EXPECT_FALSE(try_bring_home());
  EXPECT_EQ(on_host("git rev-parse HEAD; git for-each-ref; find .git -type f | sort"), before);
}

}  // namespace
}  // namespace cofferdam::git
