// cofferdam-init: the first process inside a sandbox. Static, and needs nothing of the host but the kernel.
//
// Life: read the specification, prove the mounts, hand the listeners to the egress proxy, start the command behind
// its locks, follow it, end what it left, report. When the supervisor goes, it goes, and the kernel ends the rest
// of the process namespace with it.
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "checks.h"
#include "command.h"
#include "launch.h"
#include "locks.h"
#include "network.h"
#include "report.h"

namespace cofferdam::init {
namespace {

protocol::Specification read_specification() {
  struct stat status{};
  if (::fstat(protocol::kSpecificationFd, &status) != 0) fail_setup(errno, "read the specification");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, protocol::kSpecificationFd, 0);
  if (bytes == MAP_FAILED) fail_setup(errno, "read the specification");
  protocol::Specification spec;
  if (!protocol::decode({static_cast<const char*>(bytes), size}, spec)) {
    fail_setup(EPROTO, "understand the specification; the programs of this installation do not match");
  }
  ::munmap(bytes, size);
  ::close(protocol::kSpecificationFd);
  return spec;
}

// Nothing of this process may be read or traced by the command, which has the same user id; and the command must
// not inherit the caller's key ring.
void harden() {
  ::prctl(PR_SET_DUMPABLE, 0);
  constexpr int kJoinSessionKeyring = 1;
  ::syscall(SYS_keyctl, kJoinSessionKeyring, nullptr);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
}

int run() {
  harden();
  const protocol::Specification spec = read_specification();
  check_mounts(spec);
  if (!spec.listeners.empty()) hand_over_listeners(spec);
  const Terminal terminal = open_terminal(spec);
  const int landlock_ruleset = prepare_landlock(spec);
  const pid_t command = start_command(spec, terminal, landlock_ruleset);
  follow_command(spec, command, terminal);
  return 0;
}

}  // namespace
}  // namespace cofferdam::init

int main(int argument_count, char** arguments) {
  const std::string_view mode = argument_count > 1 ? arguments[1] : "";
  if (mode == "connect" && argument_count == 4) {
    return cofferdam::init::connect_through_proxy(arguments[2], arguments[3]);
  }
  if (mode == "launch") return cofferdam::init::launch_as(argument_count - 2, arguments + 2);
  return cofferdam::init::run();
}
