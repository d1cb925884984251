#include "control/audit.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace cofferdam::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kAllowed = R"({"host":"a.com","verdict":"allow"})";
const std::string kDenied = R"({"host":"\"verdict\":\"allow\"","verdict":"deny"})";

class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    std::string pattern = testing::TempDir() + "audit-XXXXXX";
    state_ = ::mkdtemp(pattern.data());
    ::setenv("COFFERDAM_STATE_DIR", state_.c_str(), 1);
  }
  ~AuditTest() override {
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) ::remove(made->c_str());
    ::remove(state_.c_str());
    ::unsetenv("COFFERDAM_STATE_DIR");
  }
  void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) == 0) made_.push_back(path);
  }
  void record(const std::string& run, const std::string& text, time_t begun) {
    make_folder(state_ + "/runs");
    const std::string folder = state_ + "/runs/" + run;
    make_folder(folder);
    const std::string path = folder + "/decisions.jsonl";
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(file);
    made_.push_back(path);
    const timespec times[2] = {{.tv_sec = begun, .tv_nsec = 0}, {.tv_sec = begun, .tv_nsec = 0}};
    ::utimensat(AT_FDCWD, folder.c_str(), times, 0);
  }

  std::string state_;
  std::vector<std::string> made_;
};

TEST_F(AuditTest, NothingRecordedIsNoError) {
  const auto lines = read_decisions({});
  ASSERT_TRUE(lines.has_value());
  EXPECT_THAT(*lines, IsEmpty());
}

TEST_F(AuditTest, ListsEveryRunOldestFirst) {
  record("new", kDenied + "\n", 2000);
  record("old", kAllowed + "\n" + kDenied + "\n", 1000);
  EXPECT_THAT(*read_decisions({}), ElementsAre(kAllowed, kDenied, kDenied));
  EXPECT_THAT(*read_decisions({.run = "old", .only_denied = false}), ElementsAre(kAllowed, kDenied));
  EXPECT_THAT(*read_decisions({.run = "old", .only_denied = true}), ElementsAre(kDenied));
}

TEST_F(AuditTest, AnUnfinishedLineIsLeftOut) {
  record("run", kAllowed + "\n" + kDenied.substr(0, 10), 1000);
  EXPECT_THAT(*read_decisions({.run = "run", .only_denied = false}), ElementsAre(kAllowed));
}

TEST_F(AuditTest, UnknownAndImpossibleRunsAreErrors) {
  record("run", kAllowed + "\n", 1000);
  const auto unknown = read_decisions({.run = "other", .only_denied = false});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
  for (const char* name : {"../run", ".", "..", "a/b", ".hidden"}) {
    const auto refused = read_decisions({.run = name, .only_denied = false});
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument) << name;
  }
}

TEST_F(AuditTest, SinceAndLast) {
  const auto at = [](const std::string& second, const std::string& verdict) {
    return R"({"time":"2026-12-03T05:00:)" + second + R"(.000Z","verdict":")" + verdict + "\"}";
  };
  record("a", at("01", "allow") + "\n" + at("02", "deny") + "\n", 1000);
  record("b", at("03", "allow") + "\n" + at("04", "deny") + "\n" + kDenied + "\n", 2000);
  const auto since = domain::parse_moment("2026-12-03T05:00:02");
  EXPECT_THAT(*read_decisions({.since = since}), ElementsAre(at("02", "deny"), at("03", "allow"), at("04", "deny")))
      << "the moment itself counts, and what has no time is left out";
  EXPECT_THAT(*read_decisions({.only_denied = true, .since = since, .last = 1}), ElementsAre(at("04", "deny")));
  EXPECT_THAT(*read_decisions({.run = "a", .last = 1}), ElementsAre(at("02", "deny")));
  EXPECT_EQ(read_decisions({.last = 100})->size(), 5U);
}

TEST_F(AuditTest, DoesNotFollowLinks) {
  record("run", kAllowed + "\n", 1000);
  const std::string link = state_ + "/runs/link";
  ASSERT_EQ(::symlink((state_ + "/runs/run").c_str(), link.c_str()), 0);
  made_.push_back(link);
  EXPECT_FALSE(read_decisions({.run = "link", .only_denied = false}).has_value());
  EXPECT_THAT(*read_decisions({}), ElementsAre(kAllowed));
}

}  // namespace
}  // namespace cofferdam::control
