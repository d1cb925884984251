#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "report.h"

namespace cofferdam::init {
namespace {

constexpr int kBacklog = 1024;
constexpr int kProxyPort = 31337;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Address address_of(const std::string& text, std::uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
  }
  return address;
}

int listen_on(const confinement::init::ListenerSpecification& listener) {
  const Address address = address_of(listener.address, listener.port);
  const int socket_fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_fd < 0) return -1;
  const int one = 1;
  ::setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (address.storage.ss_family == AF_INET6) ::setsockopt(socket_fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (::bind(socket_fd, reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0 ||
      ::listen(socket_fd, kBacklog) != 0) {
    const int error_number = errno;
    ::close(socket_fd);
    errno = error_number;
    return -1;
  }
  return socket_fd;
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(fd, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Reads the head of the proxy's answer byte by byte: what follows belongs to the tunnel.
std::string read_head(int proxy) {
  constexpr std::size_t kHeadBytes = 16384;
  std::string head;
  char byte = 0;
  while (head.size() < kHeadBytes && !head.ends_with("\r\n\r\n")) {
    const ssize_t count = ::read(proxy, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    head += byte;
  }
  return head;
}

// Copies both ways until the far side ends.
int relay(int proxy) {
  char buffer[65536];
  pollfd watched[2] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                       {.fd = proxy, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) return 1;
    if (watched[0].fd >= 0 && watched[0].revents != 0) {
      const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count <= 0) {
        ::shutdown(proxy, SHUT_WR);
        watched[0].fd = -1;
      } else if (!write_all(proxy, buffer, static_cast<std::size_t>(count))) {
        return 1;
      }
    }
    if (watched[1].revents != 0) {
      const ssize_t count = ::read(proxy, buffer, sizeof buffer);
      if (count <= 0) return count == 0 ? 0 : 1;
      if (!write_all(STDOUT_FILENO, buffer, static_cast<std::size_t>(count))) return 1;
    }
  }
}

}  // namespace

void hand_over_listeners(const confinement::init::Specification& spec) {
  for (const auto& listener : spec.listeners) {
    const int socket_fd = listen_on(listener);
    if (socket_fd < 0) {
      if (!listener.required) continue;
      fail_setup(errno, "listen on " + listener.address + " port " + std::to_string(listener.port) + " inside");
    }
    if (!send_packet(protocol::kEgressFd, listener.payload.data(), listener.payload.size(), socket_fd))
      fail_setup(errno, "reach the egress proxy");
    ::close(socket_fd);
  }
}

int connect_through_proxy(const char* host, const char* port) {
  const Address address = address_of("127.0.0.1", kProxyPort);
  const int proxy = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (proxy < 0 || ::connect(proxy, reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) {
    std::fprintf(stderr, "cofferdam: no egress proxy inside this sandbox: %s\n", std::strerror(errno));
    return 1;
  }
  std::string target = host;
  if (target.find(':') != std::string::npos && target[0] != '[') target = "[" + target + "]";
  target += std::string(":") + port;
  const std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
  if (!write_all(proxy, request.data(), request.size())) return 1;
  const std::string head = read_head(proxy);
  if (!head.starts_with("HTTP/1.1 200")) {
    const std::string status = head.substr(0, head.find("\r\n"));
    std::fprintf(stderr, "cofferdam: the egress proxy refused %s: %s\n", target.c_str(), status.c_str());
    return 1;
  }
  return relay(proxy);
}

}  // namespace cofferdam::init
