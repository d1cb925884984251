#include "report.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace cofferdam::init {

bool send_packet(int socket, const void* bytes, std::size_t size, int fd) {
  iovec piece{.iov_base = const_cast<void*>(bytes), .iov_len = size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

void report(protocol::Event event, int value, bool signalled, std::string_view text, int fd) {
  protocol::Packet packet;
  packet.kind = static_cast<std::uint32_t>(event);
  packet.value = value;
  packet.signalled = signalled ? 1 : 0;
  text.copy(packet.text, sizeof packet.text - 1);

  (void)send_packet(protocol::kControlFd, &packet, sizeof packet, fd);
}

void fail_setup(int error_number, std::string_view what) {
  report(protocol::Event::kSetupFailed, error_number, false, what);
  ::_exit(125);
}

}  // namespace cofferdam::init
