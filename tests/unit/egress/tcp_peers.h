// Blocking sockets for tests: clients that behave badly on purpose, and origins that answer as told.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace cofferdam::egress {

inline sockaddr_in v4_address(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

// A listening socket; port 0 picks a free one. Empty when the port is not to be had.
inline UniqueFd listen_on(const std::string& host, std::uint16_t port) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = v4_address(host, port);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return {};
  ::listen(listener.get(), 1024);
  return listener;
}

inline std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// One end of a connection. Every wait is bounded, so that a broken proxy fails a test and does not hang it.
class Connection {
 public:
  static constexpr int kPatienceMs = 8000;

  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}
  static Connection to(std::uint16_t port, const std::string& host = "127.0.0.1") {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = v4_address(host, port);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) socket.reset();
    return Connection(std::move(socket));
  }

  bool ok() const { return static_cast<bool>(socket_); }
  int fd() const { return socket_.get(); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Reads until `end` has come; everything so far when the peer ends first.
  std::string read_until(std::string_view end) {
    std::string out;
    while (!out.ends_with(end) && read_some(out, 1)) {
    }
    return out;
  }
  std::string read_exactly(std::size_t count) {
    std::string out;
    while (out.size() < count && read_some(out, count - out.size())) {
    }
    return out;
  }
  std::string read_all() {
    std::string out;
    while (read_some(out, 65536)) {
    }
    return out;
  }
  // What one HTTP response holds, by its Content-Length.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    return head + read_exactly(static_cast<std::size_t>(std::atoll(head.c_str() + at + 16)));
  }
  int last_error() const { return last_error_; }
  // Whether the peer ends the connection within the time; what it sends before is dropped.
  bool ends(int patience_ms = kPatienceMs) {
    std::string waste;
    while (read_some(waste, 65536, patience_ms)) {
    }
    return last_error_ != ETIMEDOUT;
  }
  void half_close() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.reset(); }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    socket_.reset();
  }

 private:
  bool read_some(std::string& out, std::size_t most, int patience_ms = kPatienceMs) {
    pollfd wanted{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, patience_ms) <= 0) {
      last_error_ = ETIMEDOUT;
      return false;
    }
    const std::size_t before = out.size();
    out.resize(before + most);
    const ssize_t got = ::recv(socket_.get(), out.data() + before, most, 0);
    last_error_ = got < 0 ? errno : 0;
    out.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    return got > 0;
  }

  UniqueFd socket_;
  int last_error_ = 0;
};

// A server on loopback; each connection is handled on a thread of its own by the function.
class Origin {
 public:
  using Handler = std::function<void(Connection&)>;

  explicit Origin(Handler handler, const std::string& host = "127.0.0.1", std::uint16_t port = 0)
      : handler_(std::move(handler)), listener_(listen_on(host, port)) {
    if (!listener_) return;
    port_ = port_of(listener_.get());
    acceptor_ = std::thread([this] { accept_all(); });
  }
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  ~Origin() {
    if (!listener_) return;
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (std::thread& worker : workers_) worker.join();
  }

  bool ok() const { return static_cast<bool>(listener_); }
  std::uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }

 private:
  void accept_all() {
    while (true) {
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      ++accepted_;
      workers_.emplace_back([this, fd = client.release()] {
        Connection connection{UniqueFd(fd)};
        handler_(connection);
      });
    }
  }

  Handler handler_;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

// Sends everything back until the peer ends.
inline void echo(Connection& connection) {
  std::string buffer(65536, '\0');
  while (true) {
    const ssize_t got = ::recv(connection.fd(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    if (!connection.send(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)))) return;
  }
}

}  // namespace cofferdam::egress
