#include "git/layout.h"

#include "repositories.h"

namespace cofferdam::git {
namespace {

using Kind = Layout::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

class LayoutTest : public RepositoriesTest {
 protected:
  Layout layout_of(const std::string& directory, const LayoutOptions& options = {}) const {
    auto layout = read_layout(directory, options);
    EXPECT_TRUE(layout) << layout.error().to_string();
    return layout ? *std::move(layout) : Layout{};
  }
};

TEST_F(LayoutTest, KindsOfDirectories) {
  EXPECT_EQ(layout_of(host()).kind, Kind::kNone);
  on_host("mkdir .git");
  EXPECT_EQ(layout_of(host()).kind, Kind::kNone);
  on_host("rmdir .git");
  make_host();
  const Layout plain = layout_of(host());
  EXPECT_EQ(plain.kind, Kind::kStandalone);
  EXPECT_EQ(plain.git_dir, host() + "/.git");
  EXPECT_EQ(plain.head.branch, "refs/heads/main");
  EXPECT_EQ(plain.head.id + "\n", on_host("git rev-parse HEAD"));
  EXPECT_FALSE(plain.shallow);
  EXPECT_THAT(plain.in_progress, IsEmpty());
  EXPECT_EQ(layout_of(host() + "/dir").kind, Kind::kSubfolder);
  EXPECT_EQ(layout_of(host() + "/dir").top_level, host());
  EXPECT_EQ(layout_of(host() + "/dir", {.origin = Origin::kSandbox}).kind, Kind::kNone);
  on_host("git clone -q --bare . ../bare");
  EXPECT_EQ(layout_of(path("bare")).kind, Kind::kBare);
}

TEST_F(LayoutTest, HeadsAndFormats) {
  on_host("git init -q .");
  EXPECT_TRUE(layout_of(host()).head.is_unborn());
  EXPECT_EQ(layout_of(host()).head.branch, "refs/heads/main");
  on_host("rm -rf .git && git init -q --object-format=sha256 .");
  EXPECT_EQ(layout_of(host()).format, ObjectFormat::kSha256);
  on_host("rm -rf .git");
  make_host();
  on_host(
      "git checkout -q --detach && git pack-refs --all && git tag loose && git symbolic-ref refs/heads/alias "
      "refs/heads/main");
  const Layout detached = layout_of(host());
  EXPECT_EQ(detached.head.branch, "");
  EXPECT_FALSE(detached.head.is_unborn());
  EXPECT_EQ(detached.refs.size(), 3U);
  EXPECT_EQ(*find_ref(detached.refs, "refs/heads/alias"), *find_ref(detached.refs, "refs/heads/main"));
  run_shell(root_->path(), "git clone -q --depth 1 file://" + host() + " shallow");
  EXPECT_TRUE(layout_of(path("shallow")).shallow);
  on_host("git config core.repositoryformatversion 1 && git config extensions.refStorage reftable");
  EXPECT_EQ(read_layout(host()).error().code(), ErrorCode::kUnsupported);
}

TEST_F(LayoutTest, LinkedWorktreesPointBothWays) {
  make_host();
  on_host("git worktree add -q ../linked");
  const Layout linked = layout_of(path("linked"));
  EXPECT_EQ(linked.kind, Kind::kLinkedWorktree);
  EXPECT_EQ(linked.common_dir, host() + "/.git");
  EXPECT_EQ(linked.git_dir, host() + "/.git/worktrees/linked");
  EXPECT_EQ(linked.head.branch, "refs/heads/linked");
  run_shell(root_->path(), "mkdir forged && cp linked/.git forged/.git");
  EXPECT_EQ(read_layout(path("forged")).error().code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(read_layout(path("linked"), {.origin = Origin::kSandbox}).error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(LayoutTest, SubmodulesPointBothWays) {
  make_host();
  run_shell(root_->path(), "git init -q super && cd super && git submodule --quiet add ../host sub");
  const Layout submodule = layout_of(path("super/sub"));
  EXPECT_EQ(submodule.kind, Kind::kSubmodule);
  EXPECT_EQ(submodule.git_dir, path("super/.git/modules/sub"));
  run_shell(root_->path(), "mkdir forged && echo 'gitdir: " + path("super/.git/modules/sub") + "' >forged/.git");
  EXPECT_EQ(read_layout(path("forged")).error().code(), ErrorCode::kPermissionDenied);
  run_shell(root_->path(), "echo 'gitdir: " + host() + "/.git' >forged/.git");
  EXPECT_EQ(read_layout(path("forged")).error().code(), ErrorCode::kPermissionDenied);
}

TEST_F(LayoutTest, AlternatesAndWhatIsInProgress) {
  make_host();
  run_shell(root_->path(), "git clone -q --shared host shared && git clone -q --shared shared again");
  EXPECT_THAT(layout_of(path("again")).alternates, ElementsAre(path("shared/.git/objects"), host() + "/.git/objects"));
  EXPECT_EQ(read_layout(path("again"), {.origin = Origin::kSandbox}).error().code(), ErrorCode::kPermissionDenied);
  EXPECT_TRUE(read_layout(
      path("again"),
      {.origin = Origin::kSandbox, .allowed_alternates = {path("shared/.git/objects"), host() + "/.git/objects"}}));
  on_host(
      "git checkout -q -b o && echo o >a && git commit -qam o && git checkout -q main && echo m >a && "
      "git commit -qam m && git merge -q o || true");
  EXPECT_THAT(layout_of(host()).in_progress, ElementsAre("merge"));
}

TEST_F(LayoutTest, StoresOfLinksAreRefused) {
  make_host();
  EXPECT_TRUE(check_object_store(layout_of(host())));
  on_host("ln -s /etc/passwd .git/objects/info/x");
  EXPECT_EQ(check_object_store(layout_of(host())).error().code(), ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace cofferdam::git
