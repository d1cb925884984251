// Configuration, summary, log lines, the operator's proxy.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <boost/json.hpp>

#include "egress/config.h"
#include "egress/decision_log.h"
#include "egress/unresolved_names.h"
#include "egress/upstream_proxy.h"

namespace cofferdam::egress {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConfigTest, RulesSurviveTheJourney) {
  EgressConfig config;
  config.run_id = "r\"1";
  for (const char* text :
       {"example.com", "*.example.com:8443/raw", "localhost:5432", "10.0.0.0/8", "[fd00::]/8:22", "[::1]:80"}) {
    config.allow.push_back(*domain::parse_network_rule(text));
  }
  config.allow[0].trusted = true;
  config.deny.push_back(*domain::parse_network_rule("bad.example.com"));
  config.upstream_proxy = "http://u:p@proxy:3128";
  config.bounds.connections = 7;
  config.bounds.head_timeout = std::chrono::milliseconds(1);
  config.uid = 1000;
  const Result<EgressConfig> back = egress_config_from_json(to_json(config));
  ASSERT_TRUE(back.has_value()) << back.error().to_string();
  EXPECT_EQ(*back, config);
}

TEST(ConfigTest, BrokenTextIsAnError) {
  const std::string whole = to_json(EgressConfig{});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(egress_config_from_json(whole.substr(0, length)).has_value());
  }
  EXPECT_FALSE(egress_config_from_json("{}").has_value());
  EXPECT_FALSE(egress_config_from_json("[]").has_value());
}

TEST(SummaryTest, SurvivesTheJourney) {
  EgressSummary summary;
  summary.allowed = 3;
  summary.bytes_down = std::uint64_t{1} << 40;
  summary.refused = {{"a.com", 443, "no_rule", "", 2}, {"b.com", 80, "denied_by_rule", "*.b.com", 1}};
  const Result<EgressSummary> back = egress_summary_from_json(to_json(summary) + "\n");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, summary);
  EXPECT_FALSE(egress_summary_from_json("").has_value());
}

TEST(DecisionLineTest, IsOneLineOfJsonWhateverTheTextHolds) {
  DecisionRecord record;
  record.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'007));
  record.host = "a\"b\\c\n\r\x01\xff\xe2\x80\xae";
  record.port = 443;
  record.method = "CONNECT";
  record.reason = "no_rule";
  const std::string line = to_json_line("run\n1", record);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  const boost::json::value value = boost::json::parse(line);
  EXPECT_EQ(value.at("time").as_string(), "2023-11-14T22:13:20.007Z");
  EXPECT_EQ(value.at("run").as_string(), "run\\x0a1");
  EXPECT_EQ(value.at("host").as_string(), "a\"b\\c\\x0a\\x0d\\x01\\xff\\xe2\\x80\\xae");
  EXPECT_EQ(value.at("verdict").as_string(), "deny");
  EXPECT_EQ(value.at("rule").as_string(), "no rule");
  EXPECT_EQ(value.at("port").as_int64(), 443);
}

std::string contents(int file) {
  std::string text(1 << 20, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

DecisionRecord denial(int number) {
  DecisionRecord record;
  record.host = "h" + std::to_string(number) + ".test";
  record.reason = "no_rule";
  return record;
}

TEST(DecisionLogTest, KeepsTheNewestWithinItsBound) {
  async::Loop loop;
  const UniqueFd file(::memfd_create("log", 0));
  UniqueFd copy(::dup(file.get()));
  ::fcntl(copy.get(), F_SETFL, O_APPEND);
  DecisionLog log(loop.get_executor(), std::move(copy), "r", 4096);
  for (int i = 0; i < 500; ++i) {
    log.add(denial(i));
    log.flush();
    EXPECT_LE(contents(file.get()).size(), 4096U);
  }
  const std::string text = contents(file.get());
  EXPECT_THAT(text, HasSubstr("\"h499.test\""));
  EXPECT_GT(text.size(), 1000U);
  EXPECT_TRUE(text.starts_with("{\"time\"")) << "a line was cut";
}

TEST(DecisionLogTest, AFullDiskIsCountedNotFatal) {
  async::Loop loop;
  DecisionLog log(loop.get_executor(), UniqueFd(::open("/dev/full", O_RDWR | O_CLOEXEC)), "r", 4096);
  log.add(denial(1));
  log.add(denial(2));
  loop.run();
  EXPECT_EQ(log.summary().log_failures, 2U);
  EXPECT_EQ(log.summary().denied, 2U);
}

TEST(DecisionLogTest, TheListOfRefusalsIsBounded) {
  async::Loop loop;
  DecisionLog log(loop.get_executor(), UniqueFd(), "r", 4096);
  for (int i = 0; i < 300; ++i) log.add(denial(i));
  log.add(denial(0));
  EXPECT_EQ(log.summary().refused.size(), EgressSummary::kMaxRefused);
  EXPECT_EQ(log.summary().refused[0].count, 2U);
  EXPECT_EQ(log.summary().refused_omitted, 300 - EgressSummary::kMaxRefused);
}

TEST(UnresolvedNamesTest, AreForgottenInTime) {
  UnresolvedNames names;
  const async::Clock::time_point begin;
  names.add("a.test", begin);
  EXPECT_TRUE(names.contains("a.test", begin + UnresolvedNames::kMemory - std::chrono::nanoseconds(1)));
  EXPECT_FALSE(names.contains("a.test", begin + UnresolvedNames::kMemory));
  EXPECT_FALSE(names.contains("b.test", begin));
  names.add("a.test", begin + UnresolvedNames::kMemory);
  EXPECT_TRUE(names.contains("a.test", begin + UnresolvedNames::kMemory));
}

TEST(UnresolvedNamesTest, AreBounded) {
  UnresolvedNames names;
  const async::Clock::time_point begin;
  for (std::size_t i = 0; i < UnresolvedNames::kMaxNames; ++i) names.add("n" + std::to_string(i), begin);
  names.add("one.more", begin);
  EXPECT_FALSE(names.contains("one.more", begin));
  names.add("later", begin + UnresolvedNames::kMemory);
  EXPECT_TRUE(names.contains("later", begin + UnresolvedNames::kMemory));
}

TEST(UpstreamProxyTest, ReadsUrls) {
  const UpstreamProxy full = *parse_upstream_proxy("http://user:p%40ss@Proxy.Example.com:3128/");
  EXPECT_EQ(full.host, "proxy.example.com");
  EXPECT_EQ(full.port, 3128);
  EXPECT_EQ(full.authorization, "Basic dXNlcjpwQHNz");
  EXPECT_EQ(parse_upstream_proxy("proxy:3128")->port, 3128);
  EXPECT_EQ(parse_upstream_proxy("http://proxy")->port, 80);
  EXPECT_EQ(parse_upstream_proxy("http://[::1]:8080")->host, "::1");
  EXPECT_EQ(parse_upstream_proxy("http://user@proxy:1")->authorization, "Basic dXNlcjo=");
  EXPECT_EQ(parse_upstream_proxy("http://proxy:1")->authorization, "");
}

TEST(UpstreamProxyTest, ErrorsDoNotTellSecrets) {
  for (const char* url : {"https://u:hunter2@proxy:1", "socks5://u:hunter2@proxy", "http://u:hunter2@:80",
                          "http://u:hunter2@proxy:0", "http://u:hunter2@proxy:99999", "http://u:hunter2@proxy/path",
                          "http://u:hunter2%zz@proxy", "http://u:hunter2@pr oxy"}) {
    const Result<UpstreamProxy> parsed = parse_upstream_proxy(url);
    ASSERT_FALSE(parsed.has_value()) << url;
    EXPECT_THAT(parsed.error().to_string() + parsed.error().hint(), Not(HasSubstr("hunter2")));
  }
}

TEST(UpstreamProxyTest, OurOwnVariableComesFirst) {
  using Variables = std::map<std::string, std::string>;
  const auto pick = [](Variables variables) {
    return pick_upstream_proxy([&](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(pick({}), "");
  EXPECT_EQ(pick({{"https_proxy", "c"}}), "c");
  EXPECT_EQ(pick({{"HTTPS_PROXY", "b"}, {"https_proxy", "c"}}), "b");
  EXPECT_EQ(pick({{"HTTPS_PROXY", ""}, {"https_proxy", "c"}}), "c");
  EXPECT_EQ(pick({{"COFFERDAM_UPSTREAM_PROXY", "a"}, {"HTTPS_PROXY", "b"}}), "a");
  EXPECT_EQ(pick({{"COFFERDAM_UPSTREAM_PROXY", ""}, {"HTTPS_PROXY", "b"}}), "");
}

}  // namespace
}  // namespace cofferdam::egress
