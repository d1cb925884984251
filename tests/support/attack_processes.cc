// Reaching into other processes, making namespaces, and taking more than a fair share.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "attack.h"

namespace attack {
namespace {

int trace_init(const Arguments&) {
  return result_of(::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr));
}
int seize_init(const Arguments&) {
  return result_of(::ptrace(PTRACE_SEIZE, 1, nullptr, nullptr));
}
int read_memory_of_init(const Arguments&) {
  char bytes[8];
  iovec local{.iov_base = bytes, .iov_len = sizeof bytes};
  iovec remote{.iov_base = reinterpret_cast<void*>(0x400000), .iov_len = sizeof bytes};
  return result_of(::process_vm_readv(1, &local, 1, &remote, 1, 0));
}
int take_descriptor_of_init(const Arguments&) {
  const auto init = static_cast<int>(::syscall(SYS_pidfd_open, 1, 0));
  if (init < 0) return errno;
  return result_of(::syscall(SYS_pidfd_getfd, init, 4, 0));
}
int descriptor_of_init(const Arguments&) {
  char target[64];
  return result_of(::readlink("/proc/1/fd/4", target, sizeof target));
}
int open_of_init(const char* name, int flags) {
  return result_of(::open((std::string("/proc/1/") + name).c_str(), flags | O_CLOEXEC));
}
int environment_of_init(const Arguments&) {
  const int file = ::open("/proc/1/environ", O_RDONLY | O_CLOEXEC);
  char byte = 0;
  return file < 0 ? errno : result_of(::read(file, &byte, 1));
}
int channel_of_init(const Arguments&) {
  return open_of_init("fd/4", O_RDWR);
}
int memory_of_init(const Arguments&) {
  return open_of_init("mem", O_RDWR);
}
int root_of_init(const Arguments&) {
  char target[64];
  return result_of(::readlink("/proc/1/root", target, sizeof target));
}
// Ends the sandbox when it works; a kill of process 1 from inside must be without effect.
int kill_init(const Arguments&) {
  ::kill(1, SIGKILL);
  ::kill(1, SIGTERM);
  return EPERM;
}

int unshare_user(const Arguments&) {
  return result_of(::unshare(CLONE_NEWUSER));
}
int unshare_high_bits(const Arguments&) {
  return result_of(::syscall(SYS_unshare, (1UL << 32) | CLONE_NEWUSER));
}
int unshare_all(const Arguments&) {
  for (const int flag : {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    if (::unshare(flag) == 0) return 0;
  }
  return errno;
}
int end_child(long pid) {
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(static_cast<pid_t>(pid), nullptr, __WALL);
  return result_of(pid);
}
int clone_user(const Arguments&) {
  return end_child(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0));
}
int clone3_user(const Arguments&) {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER;
  arguments.exit_signal = SIGCHLD;
  return end_child(::syscall(SYS_clone3, &arguments, sizeof arguments));
}
int enter_namespace(const Arguments&) {
  const int file = ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  return file < 0 ? errno : result_of(::setns(file, CLONE_NEWUSER));
}

// bomb MOST: children until one is refused or there are MOST; allowed when MOST was reached.
int bomb(const Arguments& arguments) {
  const int most = std::atoi(arguments.at(0).c_str());
  int made = 0;
  int error = 0;
  for (; made < most; ++made) {
    const pid_t child = ::fork();
    if (child < 0) {
      error = errno;
      break;
    }
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  std::printf("made %d\n", made);
  return error;
}

// eat MEGABYTES: allowed when all of it could be touched.
int eat(const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(std::atoi(arguments.at(0).c_str())) << 20;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  ::memset(memory, 1, size);
  return 0;
}

}  // namespace

const std::vector<Attempt> kProcessAttempts = {
    {"trace-init", trace_init},
    {"seize-init", seize_init},
    {"read-init", read_memory_of_init},
    {"pidfd-init", take_descriptor_of_init},
    {"environ-init", environment_of_init},
    {"fds-init", descriptor_of_init},
    {"channel-init", channel_of_init},
    {"mem-init", memory_of_init},
    {"root-init", root_of_init},
    {"kill-init", kill_init},
    {"unshare-user", unshare_user},
    {"unshare-high", unshare_high_bits},
    {"unshare-any", unshare_all},
    {"clone-user", clone_user},
    {"clone3-user", clone3_user},
    {"setns", enter_namespace},
    {"bomb", bomb},
    {"eat", eat},
};

}  // namespace attack
