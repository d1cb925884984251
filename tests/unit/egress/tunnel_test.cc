// CONNECT and everything that may follow it, against a real proxy loop on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <array>

#include "hello_bytes.h"
#include "proxy_fixture.h"

namespace cofferdam::egress {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection Established\r\n\r\n";

std::string local(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

TEST(TunnelTest, CarriesBytesBothWays) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  EXPECT_EQ(answer, kEstablished);
  EXPECT_TRUE(client.send("hello"));
  EXPECT_EQ(client.read_exactly(5), "hello");
  client.half_close();
  EXPECT_EQ(client.read_all(), "");
  const EgressSummary summary = proxy.stop();
  EXPECT_EQ(summary.allowed, 1U);
  EXPECT_EQ(summary.bytes_up, 5U);
  EXPECT_EQ(summary.bytes_down, 5U);
  EXPECT_THAT(proxy.log_text(), HasSubstr("\"verdict\":\"allow\",\"rule\":\"" + local(origin.port()) + "\""));
}

TEST(TunnelTest, ForwardsBytesThatCameWithTheHead) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  Connection client = Connection::to(proxy.port());
  client.send("CONNECT " + local(origin.port()) + " HTTP/1.1\r\n\r\nearly");
  EXPECT_EQ(client.read_until("\r\n\r\n"), kEstablished);
  EXPECT_EQ(client.read_exactly(5), "early");
}

TEST(TunnelTest, RefusesWithTheKnownBodyAndMembers) {
  TestProxy proxy;
  proxy.allow("example.com");
  proxy.deny("bad.example.com");
  proxy.start();
  const std::string answer = proxy.connect("other.org:443").second;
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: application/json; "
                                 "charset=utf-8\r\nContent-Length: "));
  EXPECT_THAT(answer,
              HasSubstr("\r\n\r\n{\"error\":{\"code\":\"network_target_denied\",\"message\":\"Network target denied by "
                        "Paperclip sandbox policy.\",\"host\":\"other.org\",\"port\":443,\"rule\":\"no rule\""));
  EXPECT_THAT(answer, testing::EndsWith("}}\n"));
  EXPECT_THAT(proxy.connect("bad.example.com:443").second, HasSubstr("\"rule\":\"bad.example.com\""));
  (void)proxy.connect("other.org:443");
  const EgressSummary summary = proxy.stop();
  EXPECT_EQ(summary.denied, 3U);
  EXPECT_THAT(summary.refused,
              ElementsAre(RefusedDestination{"other.org", 443, "no_rule", "", 2},
                          RefusedDestination{"bad.example.com", 443, "denied_by_rule", "bad.example.com", 1}));
  EXPECT_EQ(proxy.resolver.asked, 0);
  EXPECT_EQ(std::ranges::count(proxy.log_text(), '\n'), 3);
}

TEST(TunnelTest, NamesThatAreNotGrantedAreNeverResolved) {
  TestProxy proxy;
  proxy.allow("10.0.0.0/8:443");
  proxy.start();
  EXPECT_THAT(proxy.connect("secret-data.evil.org:443").second, StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(proxy.resolver.asked, 0);
}

TEST(TunnelTest, AnswersFailuresWithAReason) {
  std::uint16_t closed = 0;
  {
    const UniqueFd listener = listen_on("127.0.0.1", 0);
    closed = port_of(listener.get());
  }
  TestProxy proxy;
  proxy.allow(local(closed));
  proxy.allow("gone.test");
  proxy.allow("silent.test");
  proxy.allow("slow-dns.test");
  proxy.resolver.fail("silent.test", "silent");
  proxy.resolver.fail("slow-dns.test", "dns_timeout");
  proxy.start();
  EXPECT_THAT(proxy.connect(local(closed)).second,
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("\"reason\":\"connection_refused\"")));
  EXPECT_THAT(proxy.connect("gone.test:443").second,
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("\"reason\":\"nxdomain\"")));
  EXPECT_THAT(proxy.connect("silent.test:443").second,
              AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("\"reason\":\"dns_timeout\"")));
  EXPECT_THAT(proxy.connect("slow-dns.test:443").second,
              AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("\"reason\":\"dns_timeout\"")));
  EXPECT_EQ(proxy.stop().failed, 4U);
}

TEST(TunnelTest, RefusesPrivateAnswersOfAllowedNames) {
  TestProxy proxy;
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"127.0.0.1", "address_loopback"},       {"169.254.169.254", "address_metadata"},
      {"10.0.0.7", "address_private"},         {"::ffff:127.0.0.1", "address_loopback"},
      {"64:ff9b::7f00:1", "address_loopback"}, {"::1", "address_loopback"},
      {"100.64.3.4", "address_carrier-grade"}, {"0.0.0.0", "address_unspecified"},
      {"fd00::1", "address_unique-local"}};
  int index = 0;
  for (const auto& [address, reason] : kCases) {
    const std::string name = "n" + std::to_string(index++) + ".test";
    proxy.allow(name);
    proxy.resolver.answer(name, {std::string(address)});
  }
  proxy.start();
  index = 0;
  for (const auto& [address, reason] : kCases) {
    const std::string answer = proxy.connect("n" + std::to_string(index++) + ".test:443").second;
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 403"), HasSubstr(std::string(reason)))) << address;
  }
}

TEST(TunnelTest, DialsTheAddressThatWasChecked) {
  // The name rebinds: first a granted address, then loopback. Only the first answer may count.
  Origin origin(echo);
  TestProxy proxy;
  const std::string port = std::to_string(origin.port());
  proxy.allow("rebind.test:" + port);
  proxy.allow("127.0.0.1:" + port);
  proxy.resolver.answer("rebind.test", {"127.0.0.1"});
  proxy.resolver.answer("rebind.test", {"127.0.0.2"});
  proxy.start();
  EXPECT_EQ(proxy.connect("rebind.test:" + port).second, kEstablished);
  EXPECT_EQ(proxy.resolver.asked, 1);
  EXPECT_THAT(proxy.connect("rebind.test:" + port).second, StartsWith("HTTP/1.1 403"));
}

TEST(TunnelTest, TriesTheNextVettedAddress) {
  Origin origin(echo, "127.0.0.3");
  TestProxy proxy;
  const std::string port = std::to_string(origin.port());
  proxy.allow("two.test:" + port, true);
  // The first refuses (nobody listens), one is not granted at all, the last answers.
  proxy.resolver.answer("two.test", {"127.0.0.9", "169.254.169.254", "127.0.0.3"});
  proxy.start();
  auto [client, answer] = proxy.connect("two.test:" + port);
  EXPECT_EQ(answer, kEstablished);
  client.close();
  ASSERT_TRUE(proxy.becomes_idle());
  proxy.stop();
  EXPECT_THAT(proxy.log_text(), HasSubstr("\"address\":\"127.0.0.3\""));
}

TEST(TunnelTest, AnAnswerThatNeverComesIsATimeout) {
  // A listener whose queue is full drops further connections silently.
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = v4_address("127.0.0.1", 0);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::listen(listener.get(), 0);
  const std::uint16_t port = port_of(listener.get());
  Connection first = Connection::to(port);
  TestProxy proxy;
  proxy.allow(local(port));
  proxy.start();
  EXPECT_THAT(proxy.connect(local(port)).second, AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("connect_timeout")));
}

TEST(TunnelTest, PassesTenMegabytesAfterAHalfClose) {
  const std::string payload(10 * 1024 * 1024, 'p');
  std::string received;
  Origin origin([&](Connection& connection) {
    received = connection.read_all();
    connection.send(payload);
  });
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  client.send("request");
  client.half_close();
  EXPECT_EQ(client.read_all().size(), payload.size());
  EXPECT_EQ(received, "request");
  EXPECT_TRUE(proxy.becomes_idle());
}

TEST(TunnelTest, PassesTenMegabytesUpAfterTheOriginsHalfClose) {
  std::atomic<std::size_t> received = 0;
  Origin origin([&](Connection& connection) {
    connection.send("bye");
    connection.half_close();
    received = connection.read_all().size();
  });
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  EXPECT_EQ(client.read_all(), "bye");
  EXPECT_TRUE(client.send(std::string(10 * 1024 * 1024, 'u')));
  client.close();
  EXPECT_TRUE(proxy.becomes_idle());
  for (int i = 0; i < 200 && received == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(received, 10U * 1024 * 1024);
}

TEST(TunnelTest, AResetOfTheClientReachesTheOrigin) {
  std::atomic<int> seen = 0;
  Origin origin([&](Connection& connection) {
    connection.read_exactly(2);
    connection.read_all();
    seen = connection.last_error() == 0 ? -1 : connection.last_error();
  });
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  client.send("hi");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  client.reset();
  EXPECT_TRUE(proxy.becomes_idle());
  for (int i = 0; i < 200 && seen == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(seen, ECONNRESET);
}

TEST(TunnelTest, AResetOfTheOriginReachesTheClient) {
  Origin origin([](Connection& connection) {
    connection.read_exactly(2);
    connection.reset();
  });
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  client.send("hi");
  client.read_all();
  EXPECT_EQ(client.last_error(), ECONNRESET);
}

TEST(TunnelTest, AResetAfterAHalfCloseEndsTheTunnel) {
  std::atomic<bool> ended = false;
  Origin origin([&](Connection& connection) {
    connection.read_all();  // the half-close
    while (connection.send(std::string(1, '.'))) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto [client, answer] = proxy.connect(local(origin.port()));
  client.half_close();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  client.reset();
  EXPECT_TRUE(proxy.becomes_idle());
}

TEST(TunnelTest, ClientsThatResetAtAnyMomentDoNoHarm) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow(local(origin.port()));
  proxy.start();
  const std::string request = "CONNECT " + local(origin.port()) + " HTTP/1.1\r\n\r\n";
  for (std::size_t cut = 0; cut <= request.size(); cut += 3) {
    Connection client = Connection::to(proxy.port());
    client.send(request.substr(0, cut));
    client.reset();
  }
  for (int i = 0; i < 50; ++i) {
    Connection denied = Connection::to(proxy.port());
    denied.send("CONNECT evil.org:443 HTTP/1.1\r\n\r\n");
    denied.reset();
    Connection allowed = Connection::to(proxy.port());
    allowed.send(request);
    allowed.reset();
  }
  EXPECT_TRUE(proxy.becomes_idle());
  EXPECT_EQ(proxy.connect(local(origin.port())).second, kEstablished);
}

TEST(TunnelTest, AServerThatSpeaksFirstIsNotDelayed) {
  Origin origin([](Connection& connection) {
    connection.send("SSH-2.0-server\r\n");
    echo(connection);
  });
  TestProxy proxy;
  const std::string port = std::to_string(origin.port());
  proxy.allow("git.test:" + port, true);
  proxy.resolver.answer("git.test", {"127.0.0.1"});
  proxy.start();
  auto [client, answer] = proxy.connect("git.test:" + port);
  EXPECT_EQ(client.read_until("\r\n"), "SSH-2.0-server\r\n");
  client.send("SSH-2.0-client\r\n");
  EXPECT_EQ(client.read_until("\r\n"), "SSH-2.0-client\r\n");
}

// ---- TLS ----

class TlsTunnelTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string port = std::to_string(origin_.port());
    target_ = "api.test:" + port;
    proxy_.allow("api.test:" + port, true);
    proxy_.allow("raw.test:" + port + "/raw", true);
    proxy_.resolver.answer("api.test", {"127.0.0.1"});
    proxy_.resolver.answer("raw.test", {"127.0.0.1"});
    proxy_.config.bounds.head_timeout = std::chrono::milliseconds(300);
    proxy_.start();
  }

  Origin origin_{echo};
  TestProxy proxy_;
  std::string target_;
};

TEST_F(TlsTunnelTest, TheRightNamePasses) {
  const std::string hello = hello_for("API.test.");
  auto [client, answer] = proxy_.connect(target_);
  client.send(hello);
  EXPECT_EQ(client.read_exactly(hello.size()), hello);
  client.send("more");
  EXPECT_EQ(client.read_exactly(4), "more");
}

TEST_F(TlsTunnelTest, TheWrongNameDoesNotHoweverItIsCut) {
  for (const std::size_t piece : {16384UZ, 40UZ, 5UZ}) {
    const std::string hello = hello_for("other.test", piece);
    auto [client, answer] = proxy_.connect(target_);
    for (const char byte : hello) client.send(std::string_view(&byte, 1));
    const std::string got = client.read_all();
    EXPECT_EQ(got, std::string("\x15\x03\x01\x00\x02\x02\x31", 7));
  }
  const EgressSummary summary = proxy_.stop();
  ASSERT_EQ(summary.refused.size(), 1U);
  EXPECT_EQ(summary.refused[0].reason, "sni_mismatch");
  EXPECT_EQ(summary.refused[0].count, 3U);
  EXPECT_EQ(summary.allowed, 0U);
}

TEST_F(TlsTunnelTest, AHelloWithoutANameIsRefused) {
  auto [client, answer] = proxy_.connect(target_);
  client.send(hello_for(""));
  client.read_all();
  EXPECT_EQ(proxy_.stop().refused.at(0).reason, "sni_missing");
}

TEST_F(TlsTunnelTest, ARawRuleLetsAnyBytesPass) {
  const std::string hello = hello_for("whatever.test");
  auto [client, answer] = proxy_.connect("raw.test:" + std::to_string(origin_.port()));
  client.send(hello);
  EXPECT_EQ(client.read_exactly(hello.size()), hello);
}

TEST_F(TlsTunnelTest, OtherProtocolsPassOnOtherPorts) {
  auto [client, answer] = proxy_.connect(target_);
  client.send("QUIT\r\n");
  EXPECT_EQ(client.read_exactly(6), "QUIT\r\n");
}

TEST_F(TlsTunnelTest, AHelloThatNeverEndsIsRefused) {
  auto [client, answer] = proxy_.connect(target_);
  client.send(hello_for("api.test").substr(0, 20));
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(proxy_.stop().refused.at(0).reason, "malformed_tls");
}

// Ports 443 and 80 need a privileged bind.
class WellKnownPortTest : public testing::Test {
 protected:
  bool start(std::uint16_t port, Origin::Handler handler, std::string_view rule) {
    // An address of its own for each process, so that tests may run side by side.
    const int id = ::getpid();
    address_ = "127." + std::to_string(1 + id / 65536 % 250) + "." + std::to_string(id / 256 % 256) + "." +
               std::to_string(1 + id % 250);
    origin_ = std::make_unique<Origin>(std::move(handler), address_, port);
    if (!origin_->ok()) return false;
    proxy_.allow(rule, true);
    proxy_.resolver.answer("api.test", {address_});
    proxy_.config.bounds.head_timeout = std::chrono::milliseconds(300);
    proxy_.start();
    return true;
  }

  std::string address_;
  std::unique_ptr<Origin> origin_;
  TestProxy proxy_;
};

TEST_F(WellKnownPortTest, Port443CarriesTlsOnly) {
  if (!start(443, echo, "api.test")) GTEST_SKIP() << "binding port 443 needs root";
  {
    const std::string hello = hello_for("api.test");
    auto [client, answer] = proxy_.connect("api.test:443");
    client.send(hello);
    EXPECT_EQ(client.read_exactly(hello.size()), hello);
  }
  {
    auto [client, answer] = proxy_.connect("api.test:443");
    client.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(client.read_all(), Not(HasSubstr("GET")));
  }
  {
    auto [client, answer] = proxy_.connect("api.test:443");
    EXPECT_TRUE(client.ends());  // says nothing until the bound
  }
  const EgressSummary summary = proxy_.stop();
  ASSERT_EQ(summary.refused.size(), 1U);
  EXPECT_EQ(summary.refused[0].reason, "not_tls");
  EXPECT_EQ(summary.refused[0].count, 2U);
}

void answer_each_request(Connection& connection) {
  while (true) {
    const std::string head = connection.read_until("\r\n\r\n");
    if (!head.ends_with("\r\n\r\n")) return;
    if (head.contains("/slow")) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(head.size()) + "\r\n\r\n" + head);
  }
}

TEST_F(WellKnownPortTest, Port80CarriesPlainHttpToThatHostOnly) {
  if (!start(80, answer_each_request, "api.test")) GTEST_SKIP() << "binding port 80 needs root";
  {
    auto [client, answer] = proxy_.connect("api.test:80");
    client.send("GET /one HTTP/1.1\r\nHost: api.test\r\n\r\n");
    EXPECT_THAT(client.read_response(),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("GET /one HTTP/1.1\r\nHost: api.test\r\n")));
    client.send("GET /two HTTP/1.1\r\nHost: API.TEST:80\r\n\r\n");
    EXPECT_THAT(client.read_response(), HasSubstr("GET /two HTTP/1.1\r\n"));
    EXPECT_EQ(origin_->accepted(), 1);
    // The bound for the first head is none for the tunnel.
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    client.send("GET /slow HTTP/1.1\r\nHost: api.test\r\n\r\n");
    EXPECT_THAT(client.read_response(), HasSubstr("GET /slow HTTP/1.1\r\n"));
    client.send("GET /three HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    EXPECT_THAT(client.read_response(), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("http_host_mismatch")));
    EXPECT_TRUE(client.ends());
  }
  {
    auto [client, answer] = proxy_.connect("api.test:80");
    client.send("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 403"));
  }
  {
    auto [client, answer] = proxy_.connect("api.test:80");
    client.send(hello_for("api.test"));
    EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 400"));
  }
  {
    Connection client = Connection::to(proxy_.port());
    client.send("GET http://api.test/abs HTTP/1.1\r\nHost: api.test\r\n\r\n");
    EXPECT_THAT(client.read_response(), HasSubstr("GET /abs HTTP/1.1\r\n"));
  }
}

TEST_F(WellKnownPortTest, AnExplicitPort80AlsoCarriesTlsToThatHost) {
  if (!start(80, echo, "api.test:80")) GTEST_SKIP() << "binding port 80 needs root";
  const std::string hello = hello_for("api.test");
  auto [client, answer] = proxy_.connect("api.test:80");
  client.send(hello);
  EXPECT_EQ(client.read_exactly(hello.size()), hello);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than a head may take
  client.send("more");
  EXPECT_EQ(client.read_exactly(4), "more");
  auto [other, second] = proxy_.connect("api.test:80");
  other.send(hello_for("evil.test"));
  EXPECT_THAT(other.read_all(), Not(HasSubstr("evil")));
}

// ---- direct listeners, the operator's proxy, bounds ----

TEST(DirectListenerTest, ForwardsToTheHostsLoopback) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow("localhost:" + std::to_string(origin.port()));
  proxy.start();
  Connection client = Connection::to(proxy.add_direct("127.0.0.1", origin.port()));
  client.send("hello");
  EXPECT_EQ(client.read_exactly(5), "hello");
  client.close();
  EXPECT_TRUE(proxy.becomes_idle());
  proxy.stop();
  EXPECT_THAT(proxy.log_text(), HasSubstr("\"method\":\"DIRECT\",\"verdict\":\"allow\""));
}

TEST(DirectListenerTest, FindsTheOtherFamilyWhenTheRuleCoversIt) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow("localhost:" + std::to_string(origin.port()));
  proxy.start();
  Connection client = Connection::to(proxy.add_direct("::1", origin.port()));
  client.send("hello");
  EXPECT_EQ(client.read_exactly(5), "hello");
}

TEST(DirectListenerTest, IsHeldToTheRules) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.allow("localhost:1");
  proxy.start();
  Connection client = Connection::to(proxy.add_direct("127.0.0.1", origin.port()));
  client.send("hello");
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(proxy.stop().denied, 1U);
  EXPECT_EQ(origin.accepted(), 0);
}

TEST(ListenerPurposeTest, ReadsTheChannelsMessages) {
  EXPECT_TRUE(std::holds_alternative<ProxyListener>(*parse_listener_purpose("proxy")));
  const Result<ListenerPurpose> direct = parse_listener_purpose("direct 127.0.0.1 5432");
  ASSERT_TRUE(direct.has_value());
  EXPECT_EQ(std::get<DirectListener>(*direct).port, 5432);
  EXPECT_TRUE(parse_listener_purpose("direct ::1 5432").has_value());
  for (const std::string_view text : {"", "Proxy", "proxy ", "direct", "direct 127.0.0.1", "direct 10.0.0.1 5",
                                      "direct a.com 5", "direct 127.0.0.1 0", "direct 127.0.0.1 5 6"}) {
    EXPECT_FALSE(parse_listener_purpose(text).has_value()) << text;
  }
}

// Whatever the host's default is: accepted sockets inherit it from their listener.
TEST(ServerTest, ClientsAreNotPaced) {
  async::Loop loop;
  FakeResolver resolver;
  Server server(loop, EgressConfig(), std::nullopt, resolver, UniqueFd());
  UniqueFd listener = listen_on("127.0.0.1", 0);
  const UniqueFd same(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 3));
  ASSERT_TRUE(server.add_listener(std::move(listener), ProxyListener{}).has_value());
  std::array<char, 16> algorithm{};
  socklen_t size = algorithm.size();
  ASSERT_EQ(::getsockopt(same.get(), IPPROTO_TCP, TCP_CONGESTION, algorithm.data(), &size), 0);
  EXPECT_STREQ(algorithm.data(), "reno");
  async::TaskScope scope(loop.get_executor());
  scope.spawn(server.stop());
  loop.run();
}

TEST(UpstreamTest, EverythingGoesThroughTheOperatorsProxy) {
  std::string seen;
  Origin upstream([&](Connection& connection) {
    seen = connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 200 OK\r\nX: y\r\n\r\nfirst");
    echo(connection);
  });
  TestProxy proxy;
  proxy.upstream = *parse_upstream_proxy("http://user:p%40ss@127.0.0.1:" + std::to_string(upstream.port()));
  proxy.allow("far.test:9000");
  proxy.start();
  auto [client, answer] = proxy.connect("far.test:9000");
  EXPECT_EQ(answer, kEstablished);
  EXPECT_EQ(client.read_exactly(5), "first");
  client.send("ping");
  EXPECT_EQ(client.read_exactly(4), "ping");
  EXPECT_EQ(seen,
            "CONNECT far.test:9000 HTTP/1.1\r\nHost: far.test:9000\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
  client.close();
  proxy.stop();
  EXPECT_THAT(proxy.log_text(), Not(HasSubstr("dXNlcjpwQHNz")));
}

TEST(UpstreamTest, RefusalsOfTheOperatorsProxyAreTold) {
  Origin upstream([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  TestProxy proxy;
  proxy.upstream = *parse_upstream_proxy("http://127.0.0.1:" + std::to_string(upstream.port()));
  proxy.allow("far.test");
  proxy.start();
  EXPECT_THAT(proxy.connect("far.test:443").second, AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("proxy_answered_407")));
}

TEST(UpstreamTest, NamesThatResolveHereAreVetted) {
  Origin upstream([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    connection.read_all();
  });
  TestProxy proxy;
  proxy.upstream = *parse_upstream_proxy("http://127.0.0.1:" + std::to_string(upstream.port()));
  proxy.deny("198.41.0.0/16");
  const std::vector<std::pair<std::vector<std::string>, std::string>> kCases = {
      {{"9.9.9.9"}, "200 Connection Established"}, {{"10.0.0.7", "9.9.9.9"}, "200 Connection Established"},
      {{"169.254.169.254"}, "address_metadata"},   {{"10.0.0.7", "127.0.0.1"}, "address_"},
      {{"198.41.0.4"}, "denied_by_rule"},          {{"9.9.9.9", "10.0.0.7", "198.41.0.4"}, "denied_by_rule"},
  };
  const auto name = [](std::size_t index) { return "n" + std::to_string(index) + ".test"; };
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    proxy.allow(name(i));
    proxy.resolver.answer(name(i), kCases[i].first);
  }
  proxy.start();
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    EXPECT_THAT(proxy.connect(name(i) + ":443").second, HasSubstr(kCases[i].second)) << i;
  }
  EXPECT_EQ(upstream.accepted(), 2);
}

TEST(UpstreamTest, NamesThatDoNotResolveHereInTimeArePassedOn) {
  Origin upstream([](Connection& connection) {
    connection.read_until("\r\n\r\n");
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    connection.read_all();
  });
  TestProxy proxy;
  proxy.config.bounds.connect_timeout = std::chrono::milliseconds(300);
  proxy.upstream = *parse_upstream_proxy("http://127.0.0.1:" + std::to_string(upstream.port()));
  for (const std::string failure : {"nxdomain", "dns_timeout", "silent"}) {
    proxy.allow(failure + ".test");
    proxy.resolver.fail(failure + ".test", failure);
  }
  proxy.start();
  for (const std::string failure : {"nxdomain", "dns_timeout", "silent"}) {
    EXPECT_EQ(proxy.connect(failure + ".test:443").second, kEstablished) << failure;
  }
  EXPECT_EQ(proxy.resolver.asked, 3);
  // The failure is remembered, so that nobody waits for it again.
  EXPECT_EQ(proxy.connect("silent.test:443").second, kEstablished);
  EXPECT_EQ(proxy.resolver.asked, 3);
}

TEST(UpstreamTest, FailuresAreNotRememberedWithoutAnOperatorsProxy) {
  TestProxy proxy;
  proxy.allow("flaky.test");
  proxy.resolver.fail("flaky.test", "dns_timeout");
  proxy.start();
  EXPECT_THAT(proxy.connect("flaky.test:443").second, StartsWith("HTTP/1.1 504"));
  EXPECT_THAT(proxy.connect("flaky.test:443").second, StartsWith("HTTP/1.1 504"));
  EXPECT_EQ(proxy.resolver.asked, 2);
}

TEST(UpstreamTest, LoopbackRulesGoDirectAndPrivateLiteralsStayRefused) {
  Origin origin(echo);
  Origin upstream([](Connection& connection) { connection.read_all(); });
  TestProxy proxy;
  proxy.upstream = *parse_upstream_proxy("http://127.0.0.1:" + std::to_string(upstream.port()));
  proxy.allow(local(origin.port()));
  proxy.start();
  EXPECT_EQ(proxy.connect(local(origin.port())).second, kEstablished);
  EXPECT_THAT(proxy.connect("10.0.0.1:443").second, StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(upstream.accepted(), 0);
}

TEST(BoundsTest, SlowHeadsAreEnded) {
  TestProxy proxy;
  proxy.config.bounds.head_timeout = std::chrono::milliseconds(200);
  proxy.start();
  Connection slow = Connection::to(proxy.port());
  slow.send("CONNECT a.com:443 HT");
  Connection silent = Connection::to(proxy.port());
  EXPECT_THAT(slow.read_response(), StartsWith("HTTP/1.1 408"));
  EXPECT_TRUE(slow.ends());
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(proxy.becomes_idle());
}

TEST(BoundsTest, DrippingBytesDoNotExtendTheTime) {
  TestProxy proxy;
  proxy.config.bounds.head_timeout = std::chrono::milliseconds(300);
  proxy.start();
  Connection slow = Connection::to(proxy.port());
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 100 && slow.send("A"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(2900));
}

TEST(BoundsTest, ConnectionsBeyondTheBoundWait) {
  Origin origin(echo);
  TestProxy proxy;
  proxy.config.bounds.connections = 2;
  proxy.allow(local(origin.port()));
  proxy.start();
  auto first = proxy.connect(local(origin.port()));
  auto second = proxy.connect(local(origin.port()));
  Connection third = Connection::to(proxy.port());
  third.send("CONNECT " + local(origin.port()) + " HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(proxy.connections(), 2U);
  first.first.close();
  EXPECT_EQ(third.read_until("\r\n\r\n"), kEstablished);
}

TEST(BoundsTest, StoppingEndsEverything) {
  Origin origin(echo);
  Origin silent([](Connection& connection) { connection.read_all(); });
  Origin polite([](Connection& connection) {
    connection.read_exactly(4);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    connection.read_all();
  });
  TestProxy proxy;
  for (const Origin* one : {&origin, &silent, &polite}) proxy.allow(local(one->port()));
  proxy.allow("silent.test");
  proxy.resolver.fail("silent.test", "silent");
  proxy.start();
  auto tunnel = proxy.connect(local(origin.port()));
  // Kept alive after an upload; waiting for an answer; in the middle of an upload.
  Connection kept = Connection::to(proxy.port());
  kept.send("POST http://" + local(polite.port()) + "/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_THAT(kept.read_response(), testing::EndsWith("ok"));
  Connection asking = Connection::to(proxy.port());
  asking.send("GET http://" + local(silent.port()) + "/ HTTP/1.1\r\n\r\n");
  Connection uploading = Connection::to(proxy.port());
  uploading.send("POST http://" + local(silent.port()) + "/ HTTP/1.1\r\nContent-Length: 4000\r\n\r\nbody");
  Connection half = Connection::to(proxy.port());
  half.send("CONNECT a");
  Connection waiting = Connection::to(proxy.port());
  waiting.send("CONNECT silent.test:443 HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begun = std::chrono::steady_clock::now();
  const EgressSummary summary = proxy.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  EXPECT_EQ(summary.allowed + summary.failed, 5U);
  EXPECT_TRUE(tunnel.first.ends());
}

}  // namespace
}  // namespace cofferdam::egress
