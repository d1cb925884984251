// Sockets that reach past the network namespace, and the sockets of the host's services.
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "attack.h"

namespace attack {
namespace {

template <int kFamily, int kType, int kProtocol = 0>
int make_socket(const Arguments&) {
  return result_of(::socket(kFamily, kType, kProtocol));
}

// Whatever the family is called: no number beyond the known ones, and none with high bits that the kernel ignores.
int any_other_family(const Arguments&) {
  for (long family = 0; family < 256; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    for (const long high : {0L, 1L << 32}) {
      for (const long type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW}) {
        if (::syscall(SYS_socket, family | high, type, 0) >= 0) return 0;
      }
    }
  }
  return EAFNOSUPPORT;
}

#if defined(__x86_64__)
// The 32-bit system call gate of a 64-bit process; arguments must lie below 4 GiB.
long call_32(long number, long first, long second, long third) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(first), "c"(second), "d"(third)
               : "memory", "r8", "r9", "r10", "r11");
  return static_cast<std::int32_t>(result);
}
int vsock_32(const Arguments&) {
  constexpr long kSocket32 = 359;
  const long result = call_32(kSocket32, AF_VSOCK, SOCK_STREAM, 0);
  return result < 0 ? static_cast<int>(-result) : 0;
}
// The multiplexed form, whose arguments no filter can read.
int vsock_socketcall(const Arguments&) {
  constexpr long kSocketcall32 = 102;
  constexpr long kMakeSocket = 1;
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (page == MAP_FAILED) return errno;
  const std::uint32_t arguments[3] = {AF_VSOCK, SOCK_STREAM, 0};
  std::memcpy(page, arguments, sizeof arguments);
  const long result = call_32(kSocketcall32, kMakeSocket, reinterpret_cast<long>(page), 0);
  return result < 0 ? static_cast<int>(-result) : 0;
}
int keyctl_32(const Arguments&) {
  constexpr long kKeyctl32 = 288;
  const long result = call_32(kKeyctl32, 1, 0, 0);
  return result < 0 ? static_cast<int>(-result) : 0;
}
#else
int vsock_32(const Arguments&) {
  return ENOSYS;
}
int vsock_socketcall(const Arguments&) {
  return ENOSYS;
}
int keyctl_32(const Arguments&) {
  return ENOSYS;
}
#endif

int connect_to(const sockaddr_un& address, socklen_t length) {
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) return errno;
  return result_of(::connect(client, reinterpret_cast<const sockaddr*>(&address), length));
}
int connect_abstract(const Arguments& arguments) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string& name = arguments.at(0);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return connect_to(address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
}
int connect_path(const Arguments& arguments) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  arguments.at(0).copy(address.sun_path, sizeof address.sun_path - 1);
  return connect_to(address, sizeof address);
}
int connect_loopback(const Arguments& arguments) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments.at(0).c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return result_of(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

}  // namespace

const std::vector<Attempt> kSocketAttempts = {
    {"vsock", make_socket<AF_VSOCK, SOCK_STREAM>},
    {"packet", make_socket<AF_PACKET, SOCK_RAW>},
    {"raw", make_socket<AF_INET, SOCK_RAW, IPPROTO_ICMP>},
    {"alg", make_socket<AF_ALG, SOCK_SEQPACKET>},
    {"audit", make_socket<AF_NETLINK, SOCK_RAW, NETLINK_AUDIT>},
    {"netfilter", make_socket<AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER>},
    {"families", any_other_family},
    {"vsock-32", vsock_32},
    {"vsock-socketcall", vsock_socketcall},
    {"keyctl-32", keyctl_32},
    {"abstract", connect_abstract},
    {"unix", connect_path},
    {"loopback", connect_loopback},
};

}  // namespace attack
