#include "launch.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

extern char** environ;

namespace cofferdam::init {

int launch_as(int argument_count, char** arguments) {
  if (argument_count < 3) return 125;
  const auto uid = static_cast<uid_t>(std::strtoul(arguments[0], nullptr, 10));
  const auto gid = static_cast<gid_t>(std::strtoul(arguments[1], nullptr, 10));
  const pid_t parent = ::getppid();
  if (::setgroups(1, &gid) != 0 || ::setresgid(gid, gid, gid) != 0 || ::setresuid(uid, uid, uid) != 0) {
    std::fprintf(stderr, "cofferdam: cannot become user %u: %s\n", uid, std::strerror(errno));
    return 125;
  }
  // Changing the user clears the wish to die with the parent; the parent may be gone already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return 125;
  ::execve(arguments[2], arguments + 2, environ);
  std::fprintf(stderr, "cofferdam: cannot execute %s: %s\n", arguments[2], std::strerror(errno));
  return 125;
}

}  // namespace cofferdam::init
