// Real repositories for the tests: a host's, the copy of it that a sandbox works in, and a shell for both.
#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "git/bounded_process.h"
#include "git/hardened_git.h"
#include "git/history_base.h"
#include "git/outbound.h"
#include "system/tree.h"

namespace cofferdam::git {

// With identities and defaults that do not depend on the machine; git's own noise goes nowhere.
inline std::string run_shell(const std::string& directory, const std::string& script) {
  const auto output =
      run_bounded({.command = {"/bin/sh", "-ec", script},
                   .environment = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
                                   "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
                                   "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_COUNT=3",
                                   "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
                                   "GIT_CONFIG_KEY_1=advice.detachedHead", "GIT_CONFIG_VALUE_1=false",
                                   "GIT_CONFIG_KEY_2=protocol.file.allow", "GIT_CONFIG_VALUE_2=always",
                                   "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"},
                   .working_directory = directory,
                   .output_limit = 1U << 20,
                   .error_limit = 1U << 16});
  EXPECT_TRUE(output) << output.error().to_string();
  if (!output) return "";
  EXPECT_EQ(output->exit_code, 0) << script << "\n" << output->standard_error;
  return output->standard_output;
}

class RepositoriesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto root = system::TemporaryDirectory::create("/tmp", "cofferdam-git-test-");
    ASSERT_TRUE(root);
    root_.emplace(*std::move(root));
    run_shell(root_->path(), "mkdir host scratch base outside");
  }

  std::string path(const std::string& name) const { return root_->path() + "/" + name; }
  std::string host() const { return path("host"); }
  std::string sandbox() const { return path("sandbox"); }
  std::string on_host(const std::string& script) const { return run_shell(host(), script); }
  std::string in_sandbox(const std::string& script) const { return run_shell(sandbox(), script); }

  // Says who ran: what a hostile repository would start writes this file.
  std::string trap() const { return path("outside/ran"); }
  bool was_trapped() const { return std::ifstream(trap()).good(); }

  // One commit with a, b and dir/c on main.
  void make_host(const std::string& options = "") const {
    on_host("git init -q " + options +
            " . && mkdir dir && echo a >a && echo b >b && echo c >dir/c && git add . && "
            "git commit -qm first");
  }

  // Copies the host as a run would see it, and notes its history.
  void send() const {
    run_shell(root_->path(), "cp -a host sandbox");
    const auto layout = read_layout(sandbox());
    ASSERT_TRUE(layout) << layout.error().to_string();
    const Status recorded = record_history_base(*layout, path("base"));
    ASSERT_TRUE(recorded) << recorded.error().to_string();
  }

  ExportRequest export_request() const {
    auto base = read_history_base(path("base"));
    EXPECT_TRUE(base) << base.error().to_string();
    return {.sandbox = sandbox(), .base = *std::move(base), .scratch = path("scratch"), .run = "run-1"};
  }

  Result<Homecoming> try_bring_home() { return bring_history_home(git_, host(), export_request()); }

  Homecoming bring_home() {
    auto home = try_bring_home();
    EXPECT_TRUE(home) << home.error().to_string();
    if (home) {
      EXPECT_THAT(home->exported.notes, testing::IsEmpty());
      return *std::move(home);
    }
    return {.exported = {}, .imported = {}, .integration = {}, .failure = std::move(home.error())};
  }

  // History, then files as a merge with no conflict would leave them, then the index.
  Homecoming bring_all_home() {
    Homecoming home = bring_home();
    if (!home.integration) {
      ADD_FAILURE() << home.failure.value_or(Error(ErrorCode::kInternal, "no history came home")).to_string();
      home.integration.emplace();
      return home;
    }
    run_shell(root_->path(),
              "cd sandbox && find . -path ./.git -prune -o -type f -print0 | "
              "tar -c --null -T - | tar -x -C ../host; cd ../host; "
              "find . -path ./.git -prune -o -type f -print | while read f; do [ -e ../sandbox/$f ] || rm $f; done");
    settlement_ = IndexSettlement{};
    auto settled = settle_index(git_, host(), home.exported, *home.integration, path("scratch"));
    EXPECT_TRUE(settled) << settled.error().to_string();
    if (settled) settlement_ = *std::move(settled);
    return home;
  }

  std::string host_status() const { return on_host("git status --porcelain"); }

  HardenedGit git_{*find_git()};
  IndexSettlement settlement_;
  std::optional<system::TemporaryDirectory> root_;
};

}  // namespace cofferdam::git
