// Load for the proxy benches: the same client and server for every proxy and for no proxy.
//
//   egress_bench serve                           a server: prints its port, sends without end to who says "S"
//   egress_bench stream PORT TARGET BYTES        one tunnel (PORT 0: none), reads BYTES, prints seconds
//   egress_bench connects PORT TARGET SECONDS N STATUS  CONNECTs, N at once; prints how many were answered STATUS
//   egress_bench bare                            a proxy without rules, record or relay: prints its port; the least
//                                                that the kernel takes for one decision
//   egress_bench idle PORT TARGET COUNT          opens COUNT tunnels, prints how many stand, waits for its input's end
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = 1024 * 1024;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int dial(int port) {
  const int socket_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(socket_fd);
    return -1;
  }
  const int on = 1;
  ::setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket_fd;
}

// A reset leaves no TIME_WAIT behind, which would use up the ports of this machine within a second.
void reset(int socket_fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(socket_fd);
}

bool send_all(int socket_fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// A connection to the target, through the proxy at `port` unless it is 0; -1 when it was refused.
int open_tunnel(int port, const std::string& target) {
  const int direct = std::atoi(target.substr(target.rfind(':') + 1).c_str());
  if (port == 0) return dial(direct);
  const int socket_fd = dial(port);
  if (socket_fd < 0) return -1;
  std::string head;
  if (send_all(socket_fd, "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n")) {
    std::array<char, 1024> piece;
    while (!head.ends_with("\r\n\r\n")) {
      const ssize_t got = ::recv(socket_fd, piece.data(), piece.size(), 0);
      if (got <= 0) break;
      head.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  if (head.size() > 12 && head.compare(9, 3, "200") == 0) return socket_fd;
  ::close(socket_fd);
  return -1;
}

void serve_one(int client) {
  char command = 0;
  if (::recv(client, &command, 1, 0) == 1 && command == 'S') {
    const std::string block(kBlock, 's');
    while (send_all(client, block)) {
    }
  }
  ::close(client);
}

// A socket that listens on a free port of loopback, which is printed.
int listen_and_tell(int type) {
  const int listener = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(0);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) die("bind");
  if (::listen(listener, 4096) != 0) die("listen");
  sockaddr_in bound{};
  socklen_t size = sizeof(bound);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size);
  std::printf("%d\n", ntohs(bound.sin_port));
  std::fflush(stdout);
  return listener;
}

// Accepts for ever; idle connections are only kept, in one thread, so that 8,000 of them cost nothing here.
int serve() {
  const int listener = listen_and_tell(SOCK_STREAM);
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener}};
  ::epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  std::array<epoll_event, 256> events;
  while (true) {
    const int count = ::epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        epoll_event wanted{.events = EPOLLIN, .data = {.fd = client}};
        if (client >= 0) ::epoll_ctl(poller, EPOLL_CTL_ADD, client, &wanted);
        continue;
      }
      char command = 0;
      ::epoll_ctl(poller, EPOLL_CTL_DEL, fd, nullptr);
      if (::recv(fd, &command, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
        std::thread(serve_one, fd).detach();
      } else {
        ::close(fd);
      }
    }
  }
}

// Reads a CONNECT to a port of loopback, dials and answers; the dialled socket, -1 when nothing came of it.
int answer_barely(int client) {
  std::array<char, 4096> head{};
  const ssize_t got = ::recv(client, head.data(), head.size() - 1, 0);
  const char* colon = got > 0 ? std::strchr(head.data(), ':') : nullptr;
  if (colon == nullptr) return -1;
  const int upstream = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(upstream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const sockaddr_in address = loopback(std::atoi(colon + 1));
  ::connect(upstream, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  // Asked a second time, the kernel says that a connection on loopback stands.
  if (::connect(upstream, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      send_all(client, "HTTP/1.1 200 Connection Established\r\n\r\n")) {
    return upstream;
  }
  ::close(upstream);
  return -1;
}

void watch(int poller, int fd) {
  epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {.fd = fd}};
  ::epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wanted);
}

// One thread, edge-triggered, each descriptor registered once. A tunnel's next event is its client's end.
int bare() {
  const int listener = listen_and_tell(SOCK_STREAM | SOCK_NONBLOCK);
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  watch(poller, listener);
  std::vector<int> upstreams;  // by the client's descriptor
  std::array<epoll_event, 64> events;
  while (true) {
    const int count = ::epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        for (int client = 0; (client = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
          upstreams.resize(std::max(upstreams.size(), static_cast<std::size_t>(client) + 1), -1);
          watch(poller, client);
        }
        continue;
      }
      int& upstream = upstreams[static_cast<std::size_t>(fd)];
      if (upstream < 0) {
        upstream = answer_barely(fd);
        if (upstream >= 0) continue;
      } else {
        reset(upstream);
      }
      upstream = -1;
      ::close(fd);
    }
  }
}

int stream(int port, const std::string& target, std::uint64_t bytes) {
  const int socket_fd = open_tunnel(port, target);
  if (socket_fd < 0) die("open the tunnel");
  const auto begun = Clock::now();
  send_all(socket_fd, "S");
  std::vector<char> buffer(kBlock);
  for (std::uint64_t total = 0; total < bytes;) {
    const ssize_t got = ::recv(socket_fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) die("read");
    total += static_cast<std::uint64_t>(got);
  }
  std::printf("%.6f\n", std::chrono::duration<double>(Clock::now() - begun).count());
  return 0;
}

// One CONNECT in the making; `fd` -1 between two.
struct Attempt {
  int fd = -1;
  std::string head;
};

void close_at_once(Attempt& attempt) {
  reset(attempt.fd);
  attempt.fd = -1;
  attempt.head.clear();
}

void begin(Attempt& attempt, std::size_t index, int poller, int port, const std::string& request) {
  attempt.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  // The listener's queue is long: this does not block.
  if (::connect(attempt.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) die("connect");
  send_all(attempt.fd, request);
  epoll_event wanted{.events = EPOLLIN, .data = {.u64 = index}};
  ::epoll_ctl(poller, EPOLL_CTL_ADD, attempt.fd, &wanted);
}

// As many decisions as `clients` connections at once get, from one thread, so that the client costs little. `status`
// is what every answer must be: 200 counts tunnels, 403 counts refusals.
int connects(int port, const std::string& target, double seconds, int clients, std::string_view status) {
  const std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Attempt> attempts(static_cast<std::size_t>(clients));
  for (std::size_t i = 0; i < attempts.size(); ++i) begin(attempts[i], i, poller, port, request);
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::array<epoll_event, 64> events;
  std::array<char, 2048> piece;
  while (Clock::now() < end) {
    const int count = ::epoll_wait(poller, events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < count; ++i) {
      const std::size_t index = events[static_cast<std::size_t>(i)].data.u64;
      Attempt& attempt = attempts[index];
      const ssize_t got = ::recv(attempt.fd, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got > 0) attempt.head.append(piece.data(), static_cast<std::size_t>(got));
      if (got > 0 && !attempt.head.contains("\r\n\r\n")) continue;
      ++(attempt.head.size() > 12 && attempt.head.compare(9, 3, status) == 0 ? right : wrong);
      close_at_once(attempt);
      begin(attempt, index, poller, port, request);
    }
  }
  if (wrong > right / 100) {
    std::fprintf(stderr, "%llu answers were not %s\n", static_cast<unsigned long long>(wrong),
                 std::string(status).c_str());
    return 1;
  }
  std::printf("%.1f\n", static_cast<double>(right) / seconds);
  return 0;
}

int idle(int port, const std::string& target, int count) {
  std::vector<int> tunnels;
  for (int i = 0; i < count; ++i) {
    const int tunnel = open_tunnel(port, target);
    if (tunnel >= 0) tunnels.push_back(tunnel);
  }
  std::printf("%zu\n", tunnels.size());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "serve") return serve();
  if (words.size() == 1 && words[0] == "bare") return bare();
  if (words.size() == 4 && words[0] == "stream") {
    return stream(std::atoi(words[1].c_str()), words[2], std::strtoull(words[3].c_str(), nullptr, 10));
  }
  if (words.size() == 6 && words[0] == "connects") {
    return connects(std::atoi(words[1].c_str()), words[2], std::atof(words[3].c_str()), std::atoi(words[4].c_str()),
                    words[5]);
  }
  if (words.size() == 4 && words[0] == "idle")
    return idle(std::atoi(words[1].c_str()), words[2], std::atoi(words[3].c_str()));
  std::fprintf(
      stderr,
      "usage: egress_bench serve | bare | stream PORT TARGET BYTES | connects PORT TARGET SECONDS N STATUS | idle "
      "PORT TARGET COUNT\n");
  return 2;
}
