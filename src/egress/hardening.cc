#include "egress/hardening.h"

#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cofferdam::egress {
namespace {

Status change_user(const EgressConfig& config) {
  if (!config.uid && !config.gid) return {};
  if (::geteuid() != 0) return {};  // an ordinary user already is who it should be
  if (config.gid) {
    if (::setgroups(0, nullptr) != 0) return Error::from_errno(errno, "leave the supplementary groups");
    if (::setresgid(*config.gid, *config.gid, *config.gid) != 0) return Error::from_errno(errno, "change the group");
  }
  if (config.uid && ::setresuid(*config.uid, *config.uid, *config.uid) != 0) {
    return Error::from_errno(errno, "change the user");
  }
  return {};
}

Status drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) return Error::from_errno(errno, "drop the capabilities");
  return {};
}

void raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Status harden_process(const EgressConfig& config) {
  // A write to a peer that is gone is an error of that connection only.
  ::signal(SIGPIPE, SIG_IGN);
  raise_open_files();
  RETURN_IF_ERROR(change_user(config));
  RETURN_IF_ERROR(drop_capabilities());
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Error::from_errno(errno, "give up new privileges");
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Error::from_errno(errno, "become undumpable");
  return {};
}

}  // namespace cofferdam::egress
