#include "control/confined_git.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "confinement/linux_host_view.h"
#include "git/outbound.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::control {
namespace {

using testing::HasSubstr;

class ConfinedGitTest : public testing::Test {
 protected:
  void SetUp() override {
    auto root = system::TemporaryDirectory::create("/tmp", "cofferdam-confined-git-");
    ASSERT_TRUE(root);
    root_.emplace(*std::move(root));
    auto host = confinement::LinuxHostView::create();
    if (!host) GTEST_SKIP() << host.error().to_string();
    auto confined = ConfinedGit::create(*host);
    if (!confined) GTEST_SKIP() << confined.error().to_string();
    git_.emplace(*std::move(confined));
    const auto version = git_->run({.repository = root_->path(), .arguments = {"version"}});
    if (!version) GTEST_SKIP() << version.error().to_string();
  }

  std::string path(const std::string& name) const { return root_->path() + "/" + name; }

  git::GitOutput run(git::GitCommand command) {
    auto output = git_->run(command);
    EXPECT_TRUE(output) << output.error().to_string();
    return output ? *std::move(output) : git::GitOutput{};
  }

  // A command of the shell where git is: through an alias, which git would refuse in no repository of its own.
  git::GitOutput shell(git::GitCommand command, const std::string& script) {
    command.arguments = {"-c", "alias.run-it=!" + script, "run-it"};
    return run(std::move(command));
  }

  std::optional<system::TemporaryDirectory> root_;
  std::optional<ConfinedGit> git_;
};

TEST_F(ConfinedGitTest, SeesNothingButWhatIsNamed) {
  for (const char* name : {"repository", "readable", "writable", "other"}) {
    ASSERT_TRUE(system::make_private_directories(path(name)));
    ASSERT_TRUE(system::replace_file(path(name) + "/file", name, 0600));
  }
  git::GitCommand command{.repository = path("repository"),
                          .arguments = {},
                          .readable = {path("readable"), path("absent")},
                          .writable = {path("writable")}};
  EXPECT_EQ(shell(command, "ls " + root_->path()).standard_output, "readable\nrepository\nwritable\n");
  EXPECT_EQ(shell(command, "cat " + path("readable/file")).standard_output, "readable");
  EXPECT_NE(shell(command, "echo x >" + path("readable/file")).exit_code, 0);
  EXPECT_NE(shell(command, "echo x >" + path("repository/file")).exit_code, 0);
  EXPECT_EQ(shell(command, "echo x >" + path("writable/file")).exit_code, 0);
  command.writes_repository = true;
  EXPECT_EQ(shell(command, "echo x >" + path("repository/file")).exit_code, 0);
  EXPECT_EQ(shell(command, "ls -d /home /etc /root /var 2>/dev/null || true").standard_output, "");
  EXPECT_THAT(shell(command, "cat /proc/net/dev").standard_output, testing::Not(HasSubstr("eth")));
}

TEST_F(ConfinedGitTest, TellsGitsFailureFromItsOwn) {
  EXPECT_EQ(run({.repository = root_->path(), .arguments = {"rev-parse", "--git-dir"}}).exit_code, 128);
  const auto absent = git_->run({.repository = path("absent"), .arguments = {"version"}});
  EXPECT_FALSE(absent);
}

TEST_F(ConfinedGitTest, EndsWithItsTime) {
  git::GitCommand command{.repository = root_->path(), .arguments = {"-c", "alias.run-it=!sleep 60", "run-it"}};
  command.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(git_->run(command).error().code(), ErrorCode::kTimedOut);
}

TEST_F(ConfinedGitTest, BringsAHistoryHome) {
  for (const char* name : {"host", "scratch", "base"}) ASSERT_TRUE(system::make_private_directories(path(name)));
  const std::string id = " -c user.name=A -c user.email=a@b ";
  git::GitCommand make{.repository = root_->path(), .arguments = {}, .writes_repository = true};
  ASSERT_EQ(shell(make, "cd host && git init -q -b main . && echo a >a && git add a && git" + id +
                            "commit -qm a && cp -a . ../sandbox")
                .exit_code,
            0);
  const auto layout = git::read_layout(path("sandbox"));
  ASSERT_TRUE(layout);
  ASSERT_TRUE(git::record_history_base(*layout, path("base")));
  ASSERT_EQ(
      shell(make, "cd sandbox && echo w >>a && git" + id + "commit -qam w && echo s >s && git add s && git branch made")
          .exit_code,
      0);
  ASSERT_EQ(shell(make, "cd host && echo h >h && git add h && git" + id + "commit -qm h").exit_code, 0);

  const auto base = git::read_history_base(path("base"));
  ASSERT_TRUE(base);
  const auto home = git::bring_history_home(
      *git_, path("host"), {.sandbox = path("sandbox"), .base = *base, .scratch = path("scratch"), .run = "run"});
  ASSERT_TRUE(home) << home.error().to_string();
  ASSERT_TRUE(home->integration) << home->failure->to_string();
  EXPECT_EQ(home->integration->relation, git::Integration::Relation::kMerged);
  EXPECT_THAT(home->imported.created, testing::ElementsAre("refs/heads/made"));
  const auto settled = git::settle_index(*git_, path("host"), home->exported, *home->integration, path("scratch"));
  ASSERT_TRUE(settled) << settled.error().to_string();
  ASSERT_TRUE(git::forget_imported(*git_, path("host"), "run", path("scratch")));
  EXPECT_EQ(shell(make, "cd host && git for-each-ref refs/paperclip").standard_output, "");
  EXPECT_EQ(
      shell(make, "cd host && git diff --cached --name-status && git fsck --strict --no-dangling").standard_output,
      "A\ts\n");
}

}  // namespace
}  // namespace cofferdam::control
