// A proxy inside the test process, whose name service the test plays.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <boost/asio/post.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "egress/server.h"
#include "tcp_peers.h"

namespace cofferdam::egress {

// Knows the names that the test gives it; a name with several answers gives one after the other.
class FakeResolver : public Resolver {
 public:
  void answer(const std::string& host, std::vector<std::string> addresses) {
    Resolution resolution;
    for (const std::string& text : addresses) resolution.addresses.push_back(*domain::IpAddress::parse(text));
    answers_[host].push_back(std::move(resolution));
  }
  void fail(const std::string& host, const std::string& failure) {
    Resolution resolution;
    resolution.failure = failure;
    answers_[host].push_back(std::move(resolution));
  }
  async::Task<Resolution> resolve(std::string host) override {
    ++asked;
    const auto found = answers_.find(host);
    Resolution out;
    if (found == answers_.end()) {
      out.failure = "nxdomain";
      co_return out;
    }
    out = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    if (out.failure == "silent") {
      async::Timer never(co_await async::asio::this_coro::executor, async::Clock::time_point::max());
      (void)co_await never.async_wait(async::kOutcome);
    }
    co_return out;
  }
  std::atomic<int> asked = 0;

 private:
  std::map<std::string, std::vector<Resolution>> answers_;
};

// Runs a Server on a thread of its own between start() and stop().
class TestProxy {
 public:
  TestProxy() {
    ::signal(SIGPIPE, SIG_IGN);
    config.run_id = "test-run";
    config.bounds.connect_timeout = std::chrono::milliseconds(1500);
  }
  ~TestProxy() {
    if (thread_.joinable()) (void)stop();
  }
  TestProxy(const TestProxy&) = delete;
  TestProxy& operator=(const TestProxy&) = delete;

  void allow(std::string_view text, bool trusted = false) {
    domain::NetworkRule rule = *domain::parse_network_rule(text);
    rule.trusted = trusted;
    config.allow.push_back(std::move(rule));
  }
  void deny(std::string_view text) { config.deny.push_back(*domain::parse_network_rule(text)); }

  void start() {
    log_ = UniqueFd(::memfd_create("decisions", MFD_CLOEXEC));
    UniqueFd log(::fcntl(log_.get(), F_DUPFD_CLOEXEC, 3));
    ::fcntl(log.get(), F_SETFL, O_APPEND);
    server_ = std::make_unique<Server>(loop_, config, upstream, resolver, std::move(log));
    UniqueFd listener = listen_on("127.0.0.1", 0);
    port_ = port_of(listener.get());
    EXPECT_TRUE(server_->add_listener(std::move(listener), ProxyListener{}).has_value());
    thread_ = std::thread([this] { loop_.run(); });
  }
  std::uint16_t port() const { return port_; }
  std::uint16_t add_direct(std::string host, std::uint16_t port) {
    UniqueFd listener = listen_on("127.0.0.1", 0);
    const std::uint16_t own = port_of(listener.get());
    async::asio::post(loop_, [this, fd = listener.release(), host = std::move(host), port] {
      EXPECT_TRUE(server_->add_listener(UniqueFd(fd), DirectListener{host, port}).has_value());
    });
    return own;
  }
  // Connections that the proxy serves at this moment.
  std::size_t connections() {
    std::atomic<std::size_t> count = 0;
    std::atomic<bool> done = false;
    async::asio::post(loop_, [&] {
      count = server_->connections();
      done = true;
    });
    while (!done) std::this_thread::yield();
    return count;
  }
  bool becomes_idle(int patience_ms = 5000) {
    for (int waited = 0; waited < patience_ms; waited += 10) {
      if (connections() == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  EgressSummary stop() {
    async::TaskScope scope(loop_.get_executor());
    async::asio::post(loop_, [&] { scope.spawn(server_->stop()); });
    thread_.join();
    EgressSummary summary = server_->summary();
    server_.reset();
    return summary;
  }
  std::string log_text() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::pread(log_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  // A connection with "CONNECT target" answered by 200, or whatever was answered.
  std::pair<Connection, std::string> connect(const std::string& target) {
    Connection client = Connection::to(port_);
    client.send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
    std::string answer = client.read_response();
    return {std::move(client), std::move(answer)};
  }

  EgressConfig config;
  std::optional<UpstreamProxy> upstream;
  FakeResolver resolver;

 private:
  async::Loop loop_{1};
  std::unique_ptr<Server> server_;
  std::thread thread_;
  UniqueFd log_;
  std::uint16_t port_ = 0;
};

}  // namespace cofferdam::egress
