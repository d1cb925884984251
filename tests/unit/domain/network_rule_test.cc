#include "domain/network_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cofferdam::domain {
namespace {

using ::testing::HasSubstr;
using Target = NetworkRule::Target;

NetworkRule rule(std::string_view text) {
  Result<NetworkRule> parsed = parse_network_rule(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed ? *parsed : NetworkRule{};
}

TEST(CanonicalHostTest, GivesOneFormToEverySpelling) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"Example.COM", "example.com"},
      {"example.com.", "example.com"},
      {"m\xC3\xBCnich.de", "xn--mnich-kva.de"},
      {"M\xC3\x9CNICH.de", "xn--mnich-kva.de"},
      {"XN--MNICH-KVA.de", "xn--mnich-kva.de"},
      {"a_b.example.com", "a_b.example.com"},
      {"127.1", "127.0.0.1"},
      {"0x7f.0.0.1", "127.0.0.1"},
      {"0X7F.1", "127.0.0.1"},
      {"2130706433", "127.0.0.1"},
      {"017700000001", "127.0.0.1"},
      {"0x7f000001", "127.0.0.1"},
      {"127.0.0.1.", "127.0.0.1"},
      {"127.0.1", "127.0.0.1"},
      {"127.000.000.001", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"0x", "0.0.0.0"},
      {"\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1", "127.0.0.1"},  // full-width digits
      {"127\xE3\x80\x82"
       "0.0.1",
       "127.0.0.1"},  // ideographic full stop
      {"[::1]", "::1"},
      {"::1", "::1"},
      {"[0:0:0:0:0:0:0:1]", "::1"},
      {"[2001:DB8::A]", "2001:db8::a"},
      {"[::ffff:127.0.0.1]", "127.0.0.1"},
      {"[::ffff:7f00:1]", "127.0.0.1"},
  };
  for (const auto& [spelling, canonical] : kCases) {
    const Result<std::string> host = canonical_host(spelling);
    ASSERT_TRUE(host.has_value()) << spelling;
    EXPECT_EQ(*host, canonical) << spelling;
  }
}

TEST(CanonicalHostTest, RefusesWhatNoHostIs) {
  for (const std::string_view text :
       {"",          ".",        "..",         "a..b",        ".a",          "a b",   "1.2.3.4.5", "256.1.1.1",
        "1.2.3.256", "08.1.1.1", "4294967296", "0xfffffffff", "example.123", "a.0x1", "u@x.com",   "x.com/",
        "x.com\\",   "x%2ecom",  "-a.com",     "a-.com",      "[::1",        "::1]",  "[1.2.3.4]", "[fe80::1%eth0]",
        "fe80::1%1", "[]",       "a:b:c",      "x.com:443",   "*.x.com",     "a\tb",  "a\x01",     "\xff\xfe"}) {
    EXPECT_FALSE(canonical_host(text).has_value()) << text;
  }
  EXPECT_FALSE(canonical_host(std::string_view("a\0b", 3)).has_value());
  EXPECT_FALSE(canonical_host(std::string_view("\xC3\xBC\0b", 4)).has_value());
  EXPECT_FALSE(canonical_host(std::string(64, 'a') + ".com").has_value());
  EXPECT_TRUE(canonical_host(std::string(63, 'a') + ".com").has_value());
  EXPECT_FALSE(canonical_host(std::string(5000, 'a')).has_value());
  std::string longest;
  while (longest.size() < 253) longest += "a.";
  EXPECT_TRUE(canonical_host(longest.substr(0, 253)).has_value());
  EXPECT_FALSE(canonical_host(longest.substr(0, 253) + "aa").has_value());
}

TEST(NetworkRuleTest, ReadsHosts) {
  for (const std::string_view text : {"api.x.com", "API.X.com", "https://api.x.com", "https://api.x.com/",
                                      "http://api.x.com", "api.x.com.", " api.x.com "}) {
    const NetworkRule parsed = rule(text);
    EXPECT_EQ(parsed.target, Target::kHost) << text;
    EXPECT_EQ(parsed.host, "api.x.com") << text;
    EXPECT_FALSE(parsed.port.has_value()) << text;
    EXPECT_FALSE(parsed.raw);
  }
  EXPECT_EQ(rule("api.x.com:443").port, 443);
  EXPECT_EQ(rule("http://api.x.com:80").port, 80);
  EXPECT_EQ(rule("https://api.x.com:8443/").port, 8443);
  EXPECT_EQ(rule("m\xC3\xBCnich.de").host, "xn--mnich-kva.de");
  EXPECT_EQ(rule("api.x.com").text, "api.x.com");
}

TEST(NetworkRuleTest, ReadsRaw) {
  EXPECT_TRUE(rule("x.com/raw").raw);
  EXPECT_TRUE(rule("x.com:8443/raw").raw);
  EXPECT_EQ(rule("x.com:8443/raw").port, 8443);
  EXPECT_TRUE(rule("*.example.com/raw").raw);
  EXPECT_TRUE(rule("10.0.0.0/8/raw").raw);
  EXPECT_TRUE(rule("https://x.com/raw").raw);
}

TEST(NetworkRuleTest, ReadsSubdomains) {
  const NetworkRule parsed = rule("*.Example.com:8443");
  EXPECT_EQ(parsed.target, Target::kSubdomains);
  EXPECT_EQ(parsed.host, "example.com");
  EXPECT_EQ(parsed.port, 8443);
}

TEST(NetworkRuleTest, RefusesPublicSuffixes) {
  for (const std::string_view text : {"*.com", "*.co.uk", "*.github.io", "*.internal", "*.localhost", "*.blogspot.com",
                                      "*.xn--p1ai", "*.s3.amazonaws.com"}) {
    const Result<NetworkRule> parsed = parse_network_rule(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr("public suffix")) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(std::string(text)));
  }
  EXPECT_TRUE(parse_network_rule("*.someone.github.io").has_value());
}

TEST(NetworkRuleTest, ReadsAddresses) {
  for (const std::string_view text :
       {"127.0.0.1:5432", "127.1:5432", "0x7f.0.0.1:5432", "2130706433:5432", "[::ffff:127.0.0.1]:5432"}) {
    const NetworkRule parsed = rule(text);
    EXPECT_EQ(parsed.target, Target::kAddresses) << text;
    EXPECT_EQ(parsed.addresses.network, IpAddress::v4(0x7F000001)) << text;
    EXPECT_EQ(parsed.addresses.prefix_bits, 32);
    EXPECT_EQ(parsed.port, 5432);
  }
  EXPECT_EQ(rule("localhost:5432").host, "localhost");
  EXPECT_EQ(rule("localhost:5432").target, Target::kAddresses);
  EXPECT_EQ(rule("[::1]:8080").addresses.prefix_bits, 128);
  EXPECT_EQ(rule("[::1]:8080").port, 8080);
  EXPECT_EQ(rule("[::1]").port, std::nullopt);
  EXPECT_EQ(rule("10.0.0.0/8:5432").addresses.prefix_bits, 8);
  EXPECT_EQ(rule("10.0.0.0/8:5432").port, 5432);
  EXPECT_EQ(rule("10.0.0.0/8").port, std::nullopt);
  EXPECT_TRUE(rule("[fd00::]/8").addresses.network.is_v6);
  EXPECT_EQ(rule("[fd00::]/8:22").port, 22);
  EXPECT_EQ(rule("0.0.0.0/0:25").addresses.prefix_bits, 0);
}

TEST(NetworkRuleTest, RefusesWhatIsNoRule) {
  for (const std::string_view text : {"",
                                      " ",
                                      "*",
                                      "https://*",
                                      "a.*.com",
                                      "foo*.com",
                                      "*x.com",
                                      "*.*.com",
                                      "*.1.2.3.4",
                                      "*.",
                                      "x.com/v1",
                                      "u@x.com",
                                      "https://u:p@x.com",
                                      "x.com?a=1",
                                      "x.com#f",
                                      "https://x.com?",
                                      "::1",
                                      "::1:443",
                                      "x y.com",
                                      "1.2.3.4.5",
                                      "x.com:99999",
                                      "x.com:65536",
                                      "x.com:0",
                                      "x.com:",
                                      "x.com:abc",
                                      "x.com:-1",
                                      "x.com:+1",
                                      "foo://x.com",
                                      "ws://x.com",
                                      "ftp://x.com",
                                      "unix:/x",
                                      "mailto:a@b",
                                      "file:///etc",
                                      "https:x.com",
                                      "https://",
                                      "//x.com",
                                      "x.com\\",
                                      "[::1",
                                      "[::1]x",
                                      "[::1]:",
                                      "[x.com]",
                                      "10.0.0.0/33",
                                      "10.0.0.0/-1",
                                      "10.0.0.0/",
                                      "10.1.2.3/8",
                                      "[fd00::1]/8",
                                      "[fd00::]/129",
                                      "10/8",
                                      "x.com:80:80",
                                      "x.com,y.com",
                                      "/raw",
                                      "x.com/RAW"}) {
    const Result<NetworkRule> parsed = parse_network_rule(text);
    EXPECT_FALSE(parsed.has_value()) << text;
    if (!parsed) EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(parse_network_rule(std::string(2000, 'a')).has_value());
  EXPECT_THAT(parse_network_rule("10.1.2.3/8").error().message(), HasSubstr("did you mean 10.0.0.0/8"));
  EXPECT_THAT(parse_network_rule("::1").error().message(), HasSubstr("brackets"));
}

TEST(CidrTest, ContainsByPrefix) {
  const auto contains = [](std::string_view cidr, std::string_view address) {
    return rule(cidr).addresses.contains(*IpAddress::parse(address));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("172.16.0.0/12", "172.31.255.255"));
  EXPECT_FALSE(contains("172.16.0.0/12", "172.32.0.0"));
  EXPECT_TRUE(contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_TRUE(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
  EXPECT_TRUE(contains("[fd00::]/8", "fd12::1"));
  EXPECT_FALSE(contains("[fd00::]/8", "fe00::1"));
}

}  // namespace
}  // namespace cofferdam::domain
