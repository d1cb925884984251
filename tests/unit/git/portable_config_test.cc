#include "git/portable_config.h"

#include <gmock/gmock.h>

#include "git/remote_url.h"

namespace cofferdam::git {
namespace {

std::vector<ConfigSetting> parsed(std::string_view text) {
  auto settings = parse_config(text);
  EXPECT_TRUE(settings) << settings.error().message();
  return *std::move(settings);
}

std::string refused(std::string_view text, const RefspecBudget& budget = {}) {
  std::string out;
  for (const ConfigRefusal& refusal : nonportable_settings(parsed(text), budget)) out += refusal.name + "\n";
  return out;
}

TEST(PortableConfig, AcceptsWhatGitItselfWrites) {
  EXPECT_EQ(
      refused("[core]\nrepositoryformatversion = 1\nfilemode = true\nbare = false\nlogallrefupdates = true\n"
              "[extensions]\nobjectFormat = sha256\n"
              "[remote \"origin\"]\nurl = https://example.com/x.git\nfetch = +refs/heads/*:refs/remotes/origin/*\n"
              "[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\nrebase = true\n"
              "[user]\nname = A B\nemail = a@b\n[pull]\nrebase = merges\n[init]\ndefaultBranch = main\n"),
      "");
}

TEST(PortableConfig, RefusesEveryKeyThatIsNotListed) {
  for (const char* text : {"[include]\npath=x",
                           "[includeIf \"gitdir:/\"]\npath=x",
                           "[core]\nworktree=/x",
                           "[core]\nhooksPath=x",
                           "[core]\nfsmonitor=x",
                           "[core]\nsshCommand=x",
                           "[core]\npager=x",
                           "[core]\neditor=x",
                           "[core]\nexcludesFile=x",
                           "[core]\nattributesFile=x",
                           "[core]\nalternateRefsCommand=x",
                           "[credential]\nhelper=x",
                           "[filter \"f\"]\nclean=x",
                           "[diff \"d\"]\ntextconv=x",
                           "[diff \"d\"]\ncommand=x",
                           "[merge \"m\"]\ndriver=x",
                           "[url \"u\"]\ninsteadOf=x",
                           "[alias]\nst=!x",
                           "[gpg]\nprogram=x",
                           "[protocol \"ext\"]\nallow=always",
                           "[extensions]\nworktreeConfig=true",
                           "[extensions]\npartialClone=origin",
                           "[submodule \"s\"]\nurl=x",
                           "[core]\nbare=true",
                           "[core]\nrepositoryformatversion=2",
                           "[user]\nsigningKey=x",
                           "[harmless]\nkey=1",
                           "[user \"sub\"]\nname=x",
                           "[remote \"r\"]\nuploadpack=x",
                           "[remote \"r\"]\nurl=https://u:p@h/x",
                           "[remote \"r\"]\nurl=ext::sh -c x",
                           "[remote \"r\"]\nurl=/srv/x",
                           "[remote \"r\"]\nfetch=-x"}) {
    EXPECT_NE(refused(text), "") << text;
  }
}

TEST(PortableConfig, CountsRefspecs) {
  const char* text = "[remote \"o\"]\nfetch = +a:b\nfetch = +c:d\n";
  EXPECT_EQ(refused(text, {.count = 2}), "");
  EXPECT_EQ(refused(text, {.count = 1}), "remote.o.fetch\n");
  EXPECT_EQ(refused(text, {.bytes = 4}), "");
  EXPECT_EQ(refused(text, {.bytes = 3}), "remote.o.fetch\nremote.o.fetch\n");
}

TEST(PortableConfig, FiltersAndCleansRemotes) {
  EXPECT_EQ(render_config(portable_settings(
                parsed("[core]\nfsmonitor = evil\nfilemode = true\n"
                       "[remote \"origin\"]\nurl = https://me:secret@example.com/x?token=1#y\nfetch = +a:b\n"
                       "[remote \"disk\"]\nurl = /srv/x\nfetch = +c:d\n[branch \"b\"]\nremote = disk\nmerge = m\n"))),
            "[core]\n\tfilemode = \"true\"\n"
            "[remote \"origin\"]\n\turl = \"https://example.com/x\"\n\tfetch = \"+a:b\"\n"
            "[branch \"b\"]\n\tmerge = \"m\"\n");
}

TEST(RemoteUrl, KeepsNoSecret) {
  const auto url = [](std::string_view text) { return portable_remote_url(text).value_or("dropped"); };
  EXPECT_EQ(url("https://user:pass@example.com/a.git?x=1#f"), "https://example.com/a.git");
  EXPECT_EQ(url("HTTP://token@example.com:8080/a"), "http://example.com:8080/a");
  EXPECT_EQ(url("ssh://git:pass@example.com:22/a?x#y"), "ssh://git@example.com:22/a");
  EXPECT_EQ(url("git://example.com/a"), "git://example.com/a");
  EXPECT_EQ(url("git+ssh://u:p@h/a"), "git+ssh://u@h/a");
  EXPECT_EQ(url("git@github.com:org/repo.git"), "git@github.com:org/repo.git");
  for (const char* text :
       {"", "/srv/a.git", "../a", "file:///srv/a", "user:pass@host:path", "ext::sh -c id", "ssh://-oProxyCommand=x/a",
        "-u@host:x", "u@-host:x", "https:///path", "a@h::x", "C:\\x", "https://h/ x", "user@host"}) {
    EXPECT_EQ(url(text), "dropped") << text;
  }
}

}  // namespace
}  // namespace cofferdam::git
