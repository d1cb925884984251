#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "control/doctor_probe.h"
#include "control/home_files.h"
#include "control/outcome_file.h"

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

json::value servers_after(const std::string& original, const std::string& changed) {
  const auto merged = with_original_servers(original, changed);
  return merged ? json::parse(*merged) : json::value(nullptr);
}

TEST(HomeFilesTest, AServerThatARunAddsDoesNotComeHome) {
  EXPECT_EQ(servers_after("{}", R"({"mcpServers":{"evil":{"command":"sh"}},"theme":"dark"})"),
            json::parse(R"({"theme":"dark"})"));
  EXPECT_EQ(servers_after(R"({"mcpServers":{"good":{"command":"a"}}})", R"({"mcpServers":{"good":{"command":"b"}}})"),
            json::parse(R"({"mcpServers":{"good":{"command":"a"}}})"));
  EXPECT_EQ(
      servers_after(R"({"projects":{"/p":{"mcpServers":{"one":1}}}})",
                    R"({"projects":{"/p":{"mcpServers":{"two":2},"seen":true},"/q":{"mcpServers":{"three":3}}}})"),
      json::parse(R"({"projects":{"/p":{"mcpServers":{"one":1},"seen":true},"/q":{}}})"));
}

TEST(HomeFilesTest, WhatIsNoJsonObjectDoesNotComeHome) {
  EXPECT_EQ(with_original_servers("{}", "not json"), std::nullopt);
  EXPECT_EQ(with_original_servers("{}", "[1]"), std::nullopt);
}

}  // namespace
}  // namespace cofferdam::control
