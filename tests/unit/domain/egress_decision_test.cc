#include "domain/egress_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/address_policy.h"

namespace cofferdam::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<NetworkRule> rules_of(std::initializer_list<std::string_view> texts) {
  std::vector<NetworkRule> out;
  for (const std::string_view text : texts) {
    Result<NetworkRule> rule = parse_network_rule(text);
    EXPECT_TRUE(rule.has_value()) << text;
    if (rule) out.push_back(*rule);
  }
  return out;
}

EgressRules rules(std::initializer_list<std::string_view> allow, std::initializer_list<std::string_view> deny = {}) {
  return {rules_of(allow), rules_of(deny)};
}

bool admits(const EgressRules& rules, const std::string& host, std::uint16_t port, Traffic traffic = Traffic::kTunnel) {
  return rules.admit(host, port, traffic).allowed;
}

TEST(AddressPolicyTest, KnowsEveryKind) {
  const std::pair<std::string_view, AddressKind> kCases[] = {
      {"8.8.8.8", AddressKind::kPublic},
      {"0.0.0.0", AddressKind::kUnspecified},
      {"0.1.2.3", AddressKind::kUnspecified},
      {"127.0.0.1", AddressKind::kLoopback},
      {"127.255.255.254", AddressKind::kLoopback},
      {"169.254.1.1", AddressKind::kLinkLocal},
      {"169.254.169.254", AddressKind::kMetadata},
      {"100.100.100.200", AddressKind::kMetadata},
      {"168.63.129.16", AddressKind::kMetadata},
      {"192.0.0.192", AddressKind::kMetadata},
      {"10.0.0.1", AddressKind::kPrivate},
      {"172.16.0.1", AddressKind::kPrivate},
      {"172.31.255.255", AddressKind::kPrivate},
      {"172.32.0.1", AddressKind::kPublic},
      {"192.168.1.1", AddressKind::kPrivate},
      {"100.64.0.1", AddressKind::kCarrierGrade},
      {"100.127.255.255", AddressKind::kCarrierGrade},
      {"100.128.0.1", AddressKind::kPublic},
      {"224.0.0.1", AddressKind::kMulticast},
      {"239.255.255.255", AddressKind::kMulticast},
      {"240.0.0.1", AddressKind::kReserved},
      {"255.255.255.255", AddressKind::kBroadcast},
      {"192.0.2.1", AddressKind::kReserved},
      {"198.18.0.1", AddressKind::kReserved},
      {"198.51.100.1", AddressKind::kReserved},
      {"203.0.113.1", AddressKind::kReserved},
      {"::", AddressKind::kUnspecified},
      {"::1", AddressKind::kLoopback},
      {"fe80::1", AddressKind::kLinkLocal},
      {"febf::1", AddressKind::kLinkLocal},
      {"fec0::1", AddressKind::kPrivate},
      {"fc00::1", AddressKind::kUniqueLocal},
      {"fd12::1", AddressKind::kUniqueLocal},
      {"fd00:ec2::254", AddressKind::kMetadata},
      {"ff02::1", AddressKind::kMulticast},
      {"2606:4700::1111", AddressKind::kPublic},
      {"2001:db8::1", AddressKind::kReserved},
      {"100::1", AddressKind::kReserved},
      {"4000::1", AddressKind::kReserved},
      // Embedded IPv4 addresses.
      {"::ffff:127.0.0.1", AddressKind::kLoopback},
      {"::ffff:8.8.8.8", AddressKind::kPublic},
      {"::ffff:169.254.169.254", AddressKind::kMetadata},
      {"::127.0.0.1", AddressKind::kLoopback},
      {"::8.8.8.8", AddressKind::kReserved},
      {"64:ff9b::7f00:1", AddressKind::kLoopback},
      {"64:ff9b::a9fe:a9fe", AddressKind::kMetadata},
      {"64:ff9b::808:808", AddressKind::kPublic},
      {"64:ff9b:1::808:808", AddressKind::kPrivate},
      {"2002:7f00:1::1", AddressKind::kLoopback},
      {"2002:a00:1::1", AddressKind::kPrivate},
      {"2002:808:808::1", AddressKind::kPublic},
      {"2001:0:808:808::f5ff:fffe", AddressKind::kPrivate},  // Teredo of client 10.0.0.1
      {"2001:0:a00:1::f7f7:f7f7", AddressKind::kPrivate},    // Teredo with server 10.0.0.1
      {"2001:0:808:808::f7f7:f7f7", AddressKind::kPublic},   // client 8.8.8.8
      {"2606:4700::5efe:10.0.0.1", AddressKind::kPrivate},   // ISATAP
      {"2606:4700::200:5efe:127.0.0.1", AddressKind::kLoopback},
      {"::ffff:0:127.0.0.1", AddressKind::kReserved},  // IPv4-translated
  };
  for (const auto& [text, kind] : kCases) {
    const std::optional<IpAddress> address = IpAddress::parse(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(to_string(classify(*address)), to_string(kind)) << text;
  }
}

// The table of local-sandbox.md §1.4 with our meaning of ports.
TEST(EgressRulesTest, BareHostMeansHttpsAndPlainHttp) {
  const EgressRules bare = rules({"api.x.com"});
  EXPECT_TRUE(admits(bare, "api.x.com", 443));
  EXPECT_TRUE(admits(bare, "api.x.com", 80));
  EXPECT_TRUE(admits(bare, "api.x.com", 80, Traffic::kPlainHttp));
  EXPECT_EQ(bare.admit("api.x.com", 80, Traffic::kTunnel).check, ContentCheck::kHttp);
  EXPECT_EQ(bare.admit("api.x.com", 443, Traffic::kTunnel).check, ContentCheck::kTls);
  EXPECT_FALSE(admits(bare, "api.x.com", 8443));
  EXPECT_FALSE(admits(bare, "api.x.com", 22));
  EXPECT_FALSE(admits(bare, "x.com", 443));
  EXPECT_FALSE(admits(bare, "a.api.x.com", 443));
  EXPECT_EQ(bare.admit("api.x.com", 443, Traffic::kPlainHttp).reason, "plain_http_on_443");
  EXPECT_EQ(bare.admit("other.com", 443, Traffic::kTunnel).reason, "no_rule");
}

TEST(EgressRulesTest, AnExplicitPortMeansThatPortOnly) {
  const EgressRules tls = rules({"api.x.com:443"});
  EXPECT_TRUE(admits(tls, "api.x.com", 443));
  EXPECT_FALSE(admits(tls, "api.x.com", 80));
  const EgressRules http = rules({"http://api.x.com:80"});
  EXPECT_TRUE(admits(http, "api.x.com", 80));
  EXPECT_FALSE(admits(http, "api.x.com", 443));
  EXPECT_EQ(http.admit("api.x.com", 80, Traffic::kTunnel).check, ContentCheck::kHttpOrTls);
  const EgressRules other = rules({"api.x.com:8443"});
  EXPECT_TRUE(admits(other, "api.x.com", 8443));
  EXPECT_TRUE(admits(other, "api.x.com", 8443, Traffic::kPlainHttp));
  EXPECT_FALSE(admits(other, "api.x.com", 443));
  EXPECT_EQ(other.admit("api.x.com", 8443, Traffic::kTunnel).check, ContentCheck::kTlsIfTls);
}

TEST(EgressRulesTest, SubdomainsAreStrict) {
  const EgressRules suffix = rules({"*.example.com"});
  EXPECT_TRUE(admits(suffix, "a.example.com", 443));
  EXPECT_TRUE(admits(suffix, "a.b.example.com", 443));
  EXPECT_FALSE(admits(suffix, "example.com", 443));
  EXPECT_FALSE(admits(suffix, "badexample.com", 443));
  EXPECT_FALSE(admits(suffix, ".example.com", 443));
  EXPECT_FALSE(admits(suffix, "example.com.evil.org", 443));
}

TEST(EgressRulesTest, DenyWins) {
  const EgressRules both =
      rules({"*.example.com", "example.org"}, {"bad.example.com", "example.org:80", "*.internal.example.com"});
  EXPECT_TRUE(admits(both, "good.example.com", 443));
  const Admission denied = both.admit("bad.example.com", 443, Traffic::kTunnel);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.reason, "denied_by_rule");
  EXPECT_EQ(denied.rule->text, "bad.example.com");
  EXPECT_FALSE(admits(both, "example.org", 80));
  EXPECT_TRUE(admits(both, "example.org", 443));
  EXPECT_FALSE(admits(both, "a.internal.example.com", 443));
}

TEST(EgressRulesTest, DenyAlsoHoldsForTheDialledAddress) {
  const EgressRules both = rules({"example.com", "10.0.0.0/8:443"}, {"8.8.8.0/24", "10.1.0.0/16"});
  const Admission admission = both.admit("example.com", 443, Traffic::kTunnel);
  const auto vet = [&](std::string_view address) { return both.vet(admission, *IpAddress::parse(address), 443, {}); };
  EXPECT_FALSE(vet("8.8.8.8").allowed);
  EXPECT_EQ(vet("8.8.8.8").reason, "denied_by_rule");
  EXPECT_TRUE(vet("8.8.4.4").allowed);
  EXPECT_TRUE(vet("10.2.0.1").allowed);
  EXPECT_FALSE(vet("10.1.0.1").allowed);
  EXPECT_FALSE(vet("::ffff:8.8.8.8").allowed);
  EXPECT_FALSE(vet("64:ff9b::808:808").allowed);
  EXPECT_FALSE(admits(both, "10.1.2.3", 443));
}

TEST(EgressRulesTest, NamesDoNotReachPrivateAddresses) {
  const EgressRules name = rules({"example.com"});
  const Admission admission = name.admit("example.com", 443, Traffic::kTunnel);
  const IpAddress own = *IpAddress::parse("5.6.7.8");
  const auto reason = [&](std::string_view address) {
    return name.vet(admission, *IpAddress::parse(address), 443, std::span(&own, 1)).reason;
  };
  EXPECT_EQ(reason("8.8.8.8"), "");
  EXPECT_EQ(reason("127.0.0.1"), "address_loopback");
  EXPECT_EQ(reason("10.0.0.1"), "address_private");
  EXPECT_EQ(reason("169.254.169.254"), "address_metadata");
  EXPECT_EQ(reason("5.6.7.8"), "address_own");
  EXPECT_EQ(reason("::ffff:5.6.7.8"), "address_own");
  EXPECT_EQ(reason("64:ff9b::506:708"), "address_own");
}

TEST(EgressRulesTest, AddressRulesCoverTheDialledAddress) {
  const EgressRules both = rules({"db.example.com:5432", "10.0.0.0/8:5432"});
  const Admission admission = both.admit("db.example.com", 5432, Traffic::kTunnel);
  ASSERT_TRUE(admission.allowed);
  EXPECT_TRUE(both.vet(admission, *IpAddress::parse("10.1.2.3"), 5432, {}).allowed);
  EXPECT_FALSE(both.vet(admission, *IpAddress::parse("192.168.1.1"), 5432, {}).allowed);
  EXPECT_FALSE(both.vet(admission, *IpAddress::parse("10.1.2.3"), 5433, {}).allowed);
  EXPECT_TRUE(admits(both, "10.1.2.3", 5432));
  EXPECT_FALSE(admits(both, "10.1.2.3", 5433));
  // A range grants addresses; a name that nobody allowed is not even resolved.
  EXPECT_FALSE(admits(both, "other.example.com", 5432));
}

TEST(EgressRulesTest, ARangeDoesNotGrantMetadata) {
  const EgressRules wide = rules({"169.254.0.0/16:80"});
  const Admission admission = wide.admit("169.254.169.254", 80, Traffic::kPlainHttp);
  EXPECT_FALSE(wide.vet(admission, *IpAddress::parse("169.254.169.254"), 80, {}).allowed);
  EXPECT_TRUE(wide.vet(admission, *IpAddress::parse("169.254.1.1"), 80, {}).allowed);
  const EgressRules exact = rules({"169.254.169.254:80"});
  EXPECT_TRUE(
      exact.vet(exact.admit("169.254.169.254", 80, Traffic::kPlainHttp), *IpAddress::parse("169.254.169.254"), 80, {})
          .allowed);
}

TEST(EgressRulesTest, LiteralsMatchAddressRules) {
  const EgressRules v6 = rules({"[::1]:8080", "127.0.0.1:3000"});
  EXPECT_TRUE(admits(v6, "::1", 8080));
  EXPECT_FALSE(admits(v6, "::1", 8081));
  EXPECT_TRUE(admits(v6, "127.0.0.1", 3000));
  EXPECT_TRUE(admits(v6, "localhost", 3000));
  EXPECT_EQ(v6.admit("127.0.0.1", 3000, Traffic::kTunnel).check, ContentCheck::kNone);
}

TEST(EgressRulesTest, LocalhostCoversBothFamilies) {
  const EgressRules local = rules({"localhost:5432"});
  const Admission admission = local.admit("localhost", 5432, Traffic::kTunnel);
  ASSERT_TRUE(admission.allowed);
  EXPECT_TRUE(local.vet(admission, *IpAddress::parse("127.0.0.1"), 5432, {}).allowed);
  EXPECT_TRUE(local.vet(admission, *IpAddress::parse("::1"), 5432, {}).allowed);
  EXPECT_FALSE(local.vet(admission, *IpAddress::parse("127.0.0.2"), 5432, {}).allowed);
  EXPECT_TRUE(admits(local, "127.0.0.1", 5432));
  EXPECT_TRUE(admits(local, "::1", 5432));
}

TEST(EgressRulesTest, TrustedNamesMayBePrivateButNotMetadata) {
  std::vector<NetworkRule> allow = rules_of({"control.example.com:3100"});
  allow[0].trusted = true;
  const EgressRules trusted(allow, {});
  const Admission admission = trusted.admit("control.example.com", 3100, Traffic::kPlainHttp);
  ASSERT_TRUE(admission.allowed);
  for (const std::string_view fine : {"127.0.0.1", "10.0.0.1", "192.168.1.1", "fd12::1", "100.64.0.1", "8.8.8.8"}) {
    EXPECT_TRUE(trusted.vet(admission, *IpAddress::parse(fine), 3100, {}).allowed) << fine;
  }
  for (const std::string_view bad : {"169.254.169.254", "169.254.1.1", "0.0.0.0", "224.0.0.1", "fd00:ec2::254"}) {
    EXPECT_FALSE(trusted.vet(admission, *IpAddress::parse(bad), 3100, {}).allowed) << bad;
  }
  EXPECT_FALSE(admits(trusted, "control.example.com", 443));
}

TEST(EgressRulesTest, TheLeastDemandingRuleCounts) {
  EXPECT_EQ(rules({"x.com", "x.com/raw"}).admit("x.com", 443, Traffic::kTunnel).check, ContentCheck::kNone);
  EXPECT_EQ(rules({"x.com", "x.com:80"}).admit("x.com", 80, Traffic::kTunnel).check, ContentCheck::kHttpOrTls);
  EXPECT_TRUE(admits(rules({"x.com/raw"}), "x.com", 443, Traffic::kPlainHttp));
}

TEST(EgressRulesTest, NothingIsAllowedWithoutRules) {
  const EgressRules none = rules({});
  EXPECT_FALSE(admits(none, "example.com", 443));
  EXPECT_FALSE(admits(none, "localhost", 80));
  EXPECT_FALSE(admits(none, "127.0.0.1", 443));
}

TEST(LoopbackForwardsTest, ListsNamedPortsOnce) {
  const std::vector<NetworkRule> allow = rules_of({"localhost:5432", "127.0.0.1:5432", "[::1]:6379", "127.0.0.0/8:9000",
                                                   "10.0.0.1:22", "example.com:80", "localhost"});
  EXPECT_THAT(loopback_forwards(allow), ElementsAre(LoopbackForward{"127.0.0.1", 5432}, LoopbackForward{"::1", 5432},
                                                    LoopbackForward{"::1", 6379}, LoopbackForward{"127.0.0.1", 9000}));
  EXPECT_THAT(loopback_forwards({}), IsEmpty());
}

}  // namespace
}  // namespace cofferdam::domain
