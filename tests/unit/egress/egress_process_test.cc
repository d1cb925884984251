// The real program, held by the supervisor's class.
#include "egress/egress_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/scope_exit.h"
#include "tcp_peers.h"

namespace cofferdam::egress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Built beside the tests.
std::string program_path() {
  std::string self(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return self.substr(0, self.rfind('/')) + "/../cofferdam-egress";
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void send_listener(int channel, int listener, std::string text) {
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &listener, sizeof(listener));
  ASSERT_GE(::sendmsg(channel, &message, 0), 0);
}

class EgressProcessTest : public testing::Test {
 protected:
  EgressProcessTest() {
    std::string pattern = testing::TempDir() + "egress-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    config_.program = program_path();
    config_.run_id = "run-1";
    config_.log_path = folder_ + "/decisions.jsonl";
  }
  ~EgressProcessTest() override {
    ::unlink(config_.log_path.c_str());
    ::rmdir(folder_.c_str());
  }
  void allow(std::string_view text) { config_.allow.push_back(*domain::parse_network_rule(text)); }
  void start() {
    Result<EgressProcess> started = EgressProcess::start(config_);
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    process_.emplace(std::move(*started));
    UniqueFd listener = listen_on("127.0.0.1", 0);
    port_ = port_of(listener.get());
    const UniqueFd channel = process_->take_channel();
    send_listener(channel.get(), listener.get(), "proxy");
    // As cofferdam-init does it: the channel is closed before the command starts.
  }
  std::string ask(const std::string& request) {
    Connection client = Connection::to(port_);
    client.send(request);
    return client.read_all();
  }

  std::string folder_;
  EgressConfig config_;
  std::optional<EgressProcess> process_;
  std::uint16_t port_ = 0;
};

TEST_F(EgressProcessTest, ServesAndTellsAtTheEnd) {
  Origin origin(echo);
  const std::string target = "127.0.0.1:" + std::to_string(origin.port());
  allow(target);
  start();
  EXPECT_THAT(ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  Connection client = Connection::to(port_);
  client.send("CONNECT " + target + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  client.send("data");
  EXPECT_EQ(client.read_exactly(4), "data");
  const Result<EgressSummary> summary = process_->finish();
  ASSERT_TRUE(summary.has_value()) << summary.error().to_string();
  EXPECT_EQ(summary->allowed, 1U);
  EXPECT_EQ(summary->denied, 1U);
  EXPECT_THAT(summary->refused, ElementsAre(RefusedDestination{"evil.test", 443, "no_rule", "", 1}));
  EXPECT_TRUE(client.ends());
  const std::string log = contents(config_.log_path);
  EXPECT_THAT(log, HasSubstr("\"host\":\"evil.test\""));
  EXPECT_THAT(log, HasSubstr("\"bytes_up\":4,\"bytes_down\":4"));
  struct stat status{};
  ASSERT_EQ(::stat(config_.log_path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(EgressProcessTest, IsHardened) {
  start();
  (void)ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");  // it has read its configuration by now
  const std::string folder = "/proc/" + std::to_string(process_->pid());
  const std::string status = contents(folder + "/status");
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("CapPrm:\t0000000000000000"));
  // Owned by root, not by the user of the process: the mark of an undumpable process.
  struct stat memory{};
  ASSERT_EQ(::stat((folder + "/mem").c_str(), &memory), 0);
  EXPECT_EQ(memory.st_uid, 0U);
  EXPECT_EQ(contents(folder + "/cmdline"), std::string("cofferdam-egress") + '\0');
}

TEST_F(EgressProcessTest, ChangesTheUserWhenRootStartsIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the user";
  config_.uid = 65534;
  config_.gid = 65534;
  start();
  (void)ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
  const std::string status = contents("/proc/" + std::to_string(process_->pid()) + "/status");
  EXPECT_THAT(status, HasSubstr("Uid:\t65534\t65534\t65534\t65534"));
  EXPECT_THAT(status, HasSubstr("Gid:\t65534\t65534\t65534\t65534"));
  ASSERT_TRUE(process_->finish().has_value());
  EXPECT_THAT(contents(config_.log_path), HasSubstr("evil.test"));
}

TEST_F(EgressProcessTest, EndsWhenItsSupervisorDies) {
  start();
  const int pidfd = ::fcntl(process_->pidfd(), F_DUPFD_CLOEXEC, 3);
  const ScopeExit close_copy([&] { ::close(pidfd); });
  // All that a death closes: the process sees the end of its standard input.
  const Result<EgressSummary> summary = process_->finish();
  EXPECT_TRUE(summary.has_value());
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 2000), 1);
}

TEST_F(EgressProcessTest, AKilledProxyIsAnError) {
  start();
  ::kill(process_->pid(), SIGKILL);
  const Result<EgressSummary> summary = process_->finish();
  ASSERT_FALSE(summary.has_value());
  EXPECT_THAT(summary.error().message(), HasSubstr("signal 9"));
}

TEST_F(EgressProcessTest, DecisionsOutliveAKilledProxy) {
  start();
  (void)ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (contents(config_.log_path).empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(process_->pid(), SIGKILL);
  EXPECT_FALSE(process_->finish().has_value());
  EXPECT_THAT(contents(config_.log_path), HasSubstr("\"host\":\"evil.test\""));
}

TEST_F(EgressProcessTest, AProxyThatDoesNotEndIsKilled) {
  start();
  ::kill(process_->pid(), SIGSTOP);
  const Result<EgressSummary> summary = process_->finish(std::chrono::milliseconds(200));
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code(), ErrorCode::kTimedOut);
}

TEST_F(EgressProcessTest, StartFailsClearly) {
  config_.program = "/nonexistent/cofferdam-egress";
  EXPECT_FALSE(EgressProcess::start(config_).has_value());
  config_.program = program_path();
  config_.upstream_proxy = "http://user:hunter2@:80";
  const Result<EgressProcess> started = EgressProcess::start(config_);
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().to_string(), Not(HasSubstr("hunter2")));
  config_.upstream_proxy.clear();
  config_.log_path = "/nonexistent/decisions.jsonl";
  EXPECT_FALSE(EgressProcess::start(config_).has_value());
}

TEST_F(EgressProcessTest, SurvivesAShortageOfDescriptors) {
  Origin origin(echo);
  const std::string target = "127.0.0.1:" + std::to_string(origin.port());
  allow(target);
  start();
  (void)ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");  // it has raised its own limit by now
  const rlimit tight{.rlim_cur = 40, .rlim_max = 40};
  ASSERT_EQ(::prlimit(process_->pid(), RLIMIT_NOFILE, &tight, nullptr), 0);
  std::vector<Connection> crowd;
  for (int i = 0; i < 60; ++i) {
    crowd.push_back(Connection::to(port_));
    crowd.back().send("CONNECT " + target + " HTTP/1.1\r\n\r\n");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  crowd.clear();
  // Everybody left: the next one is served as ever.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Connection client = Connection::to(port_);
  client.send("CONNECT " + target + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  client.send("still alive");
  EXPECT_EQ(client.read_exactly(11), "still alive");
  EXPECT_TRUE(process_->finish().has_value());
}

TEST_F(EgressProcessTest, ListsTheDirectListeners) {
  allow("localhost:5432");
  start();
  EXPECT_THAT(process_->direct_listeners(),
              ElementsAre(domain::LoopbackForward{"127.0.0.1", 5432}, domain::LoopbackForward{"::1", 5432}));
}

}  // namespace
}  // namespace cofferdam::egress
