#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "control/doctor_probe.h"
#include "control/home_files.h"
#include "control/outcome_file.h"
#include "domain/profile.h"
#include "domain/profile_apply.h"

namespace cofferdam::control {
namespace {

using domain::Outcome;
namespace json = boost::json;

TEST(DoctorTest, KnowsOldBubblewrap) {
  EXPECT_TRUE(is_new_enough_bubblewrap("bubblewrap 0.8.0"));
  EXPECT_TRUE(is_new_enough_bubblewrap("bubblewrap 0.11.1"));
  EXPECT_TRUE(is_new_enough_bubblewrap("bubblewrap 1.0"));
  EXPECT_TRUE(is_new_enough_bubblewrap("something else"));
  EXPECT_FALSE(is_new_enough_bubblewrap("bubblewrap 0.7.0"));
  EXPECT_FALSE(is_new_enough_bubblewrap("bubblewrap 0.4.1"));
}

json::object outcome_object(const Outcome& outcome) {
  return json::parse(outcome_json({.run_id = "run", .outcome = outcome, .limits = {}, .egress = {}})).as_object();
}

TEST(OutcomeFileTest, EachKindHasItsOwnField) {
  const json::object exited = outcome_object({.kind = Outcome::Kind::kExited, .value = 3});
  EXPECT_EQ(exited.at("exited"), 3);
  EXPECT_TRUE(exited.at("signalled").is_null());
  EXPECT_EQ(exited.at("timed_out"), false);

  const json::object signalled = outcome_object({.kind = Outcome::Kind::kSignalled, .value = 15});
  EXPECT_TRUE(signalled.at("exited").is_null());
  EXPECT_EQ(signalled.at("signalled"), 15);
  EXPECT_EQ(signalled.at("exit_code"), 143);

  const json::object timed_out = outcome_object({.kind = Outcome::Kind::kTimedOut});
  EXPECT_EQ(timed_out.at("timed_out"), true);
  EXPECT_EQ(timed_out.at("exit_code"), 124);

  const json::object memory = outcome_object({.kind = Outcome::Kind::kOutOfMemory, .value = 9});
  EXPECT_EQ(memory.at("out_of_memory"), true);

  const json::object missing = outcome_object({.kind = Outcome::Kind::kStartFailed,
                                               .start_error = Outcome::StartError::kNotFound,
                                               .message = "x: command not found"});
  EXPECT_EQ(missing.at("exit_code"), 127);
  EXPECT_EQ(missing.at("start_failed").at("reason"), "not_found");
}

class PrepareOutcomeTest : public testing::Test {
 protected:
  PrepareOutcomeTest() {
    std::string pattern = testing::TempDir() + "outcome-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~PrepareOutcomeTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(PrepareOutcomeTest, AnOldOutcomeGoesAndNothingIsLeft) {
  std::ofstream(path("old")) << "{}";
  EXPECT_TRUE(prepare_outcome(path("old")));
  EXPECT_TRUE(prepare_outcome(path("new")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(PrepareOutcomeTest, WhatIsNoRegularFileStays) {
  std::filesystem::create_directory(path("directory"));
  std::ofstream(path("target")) << "text";
  std::filesystem::create_symlink(path("target"), path("link"));
  ASSERT_EQ(::mkfifo(path("device").c_str(), 0600), 0);
  for (const char* name : {"directory", "link", "device"}) {
    const Status prepared = prepare_outcome(path(name));
    ASSERT_FALSE(prepared) << name;
    EXPECT_NE(prepared.error().message().find("not a regular file"), std::string::npos) << name;
    EXPECT_FALSE(prepared.error().hint().empty()) << name;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_TRUE(std::filesystem::is_fifo(path("device")));
  EXPECT_FALSE(prepare_outcome(path("absent/outcome")));
}

json::value restored(const std::string& original, const std::string& changed, const std::vector<std::string>& members) {
  const auto merged = with_original_members(original, changed, members);
  return merged ? json::parse(*merged) : json::value(nullptr);
}

// Everything that Claude's profile guards, as a run would leave it itself.
TEST(HomeFilesTest, NoGuardedMemberThatARunAddsOrChangesComesHome) {
  domain::Policy policy;
  policy.home = "/home/me";
  domain::add_home(**domain::find_profile("claude_local"), {}, policy);
  const std::vector<std::string>& guarded = policy.home_files.at(0).guarded_members;
  for (const char* needed : {"mcpServers", "env", "apiKeyHelper", "bypassPermissionsModeAccepted",
                             "projects.*.mcpServers", "projects.*.allowedTools", "projects.*.enabledMcpjsonServers",
                             "projects.*.hasTrustDialogAccepted", "projects.*.hasClaudeMdExternalIncludesApproved"}) {
    EXPECT_NE(std::ranges::find(guarded, needed), guarded.end()) << needed;
  }
  const auto document = [](const std::string& member, const std::string& value) {
    constexpr std::string_view kProject = "projects.*.";
    if (!member.starts_with(kProject)) return "{\"" + member + "\":" + value + R"(,"theme":"dark"})";
    const std::string name = member.substr(kProject.size());
    return R"({"projects":{"/a.b/*":{")" + name + "\":" + value + R"(,"seen":true}},"theme":"dark"})";
  };
  for (const std::string& member : guarded) {
    const json::value added = restored("", document(member, "[1]"), guarded);
    EXPECT_EQ(json::serialize(added).find("[1]"), std::string::npos) << member;
    EXPECT_EQ(added.at("theme"), "dark") << member;
    EXPECT_EQ(restored(document(member, "[0]"), document(member, "[1]"), guarded), json::parse(document(member, "[0]")))
        << member;
  }
}

TEST(HomeFilesTest, WhatTheHostGaveStaysWhenARunTakesItAway) {
  EXPECT_EQ(restored(R"({"env":{"A":"1"},"projects":{"/p":{"hasTrustDialogAccepted":true}}})",
                     R"({"projects":{"/p":{"seen":1},"/q":{"hasTrustDialogAccepted":true}}})",
                     {"env", "projects.*.hasTrustDialogAccepted"}),
            json::parse(R"({"env":{"A":"1"},"projects":{"/p":{"seen":1,"hasTrustDialogAccepted":true},"/q":{}}})"));
}

TEST(HomeFilesTest, WhatIsNoJsonObjectDoesNotComeHome) {
  EXPECT_EQ(with_original_members("{}", "not json", {"env"}), std::nullopt);
  EXPECT_EQ(with_original_members("{}", "[1]", {"env"}), std::nullopt);
  EXPECT_EQ(restored("{}", R"({"projects":[1]})", {"projects.*.env"}), json::parse(R"({"projects":[1]})"));
}

}  // namespace
}  // namespace cofferdam::control
