// attack NAME [ARGUMENT…]: tries one thing that a confined program must not be able to do, says whether it was
// allowed, and exits 0 when it was refused and 1 when it was allowed. With several names joined by commas: all of
// them. Other forms, which prepare or measure, are in kTools.
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace attack {

int result_of(long value) { return value < 0 ? errno : 0; }

namespace {

constexpr int kKeyctlJoinSession = 1;
constexpr int kKeyctlSearch = 10;
constexpr int kSessionKeyring = -3;

int mount_devtmpfs(const Arguments&) {
  ::mkdir("/tmp/devices", 0700);
  return result_of(::mount("devtmpfs", "/tmp/devices", "devtmpfs", 0, nullptr));
}
int mount_tmpfs(const Arguments&) {
  ::mkdir("/tmp/memory", 0700);
  return result_of(::mount("tmpfs", "/tmp/memory", "tmpfs", 0, nullptr));
}
int remount_root(const Arguments&) { return result_of(::mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr)); }
int unmount_proc(const Arguments&) { return result_of(::umount2("/proc", MNT_DETACH)); }
int new_mount_api(const Arguments&) { return result_of(::syscall(SYS_fsopen, "tmpfs", 0)); }

// Settings of a sandbox's own namespaces, which their owner may change.
bool belongs_to_the_sandbox(const char* path) {
  for (const char* prefix : {"fs/mqueue/", "kernel/sem", "kernel/shm", "kernel/msg", "kernel/auto_msgmni",
                             "kernel/ns_last_pid", "kernel/pid_max", "user/", "net/"}) {
    const std::string start = std::string("/proc/sys/") + prefix;
    if (std::strncmp(path, start.c_str(), start.size()) == 0) return true;
  }
  return false;
}

// Allowed when one file below /proc/sys opens for writing; says which. `shared`: of those that other namespaces see.
bool only_shared = false;
int write_proc_sys(const Arguments& arguments) {
  only_shared = !arguments.empty() && arguments[0] == "shared";
  const auto visit = [](const char* path, const struct stat*, int kind, FTW*) {
    const bool own = belongs_to_the_sandbox(path);
    if (kind != FTW_F || (own && only_shared)) return 0;
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ::close(file);
    std::printf("%s opens for writing\n", path);
    return 1;
  };
  return ::nftw("/proc/sys", visit, 16, FTW_PHYS) == 0 ? EACCES : 0;
}

int find_key(const Arguments& arguments) {
  const char* name = arguments.empty() ? "cofferdam-canary" : arguments[0].c_str();
  if (::syscall(SYS_keyctl, kKeyctlSearch, kSessionKeyring, "user", name, 0) >= 0) return 0;
  return result_of(::syscall(SYS_request_key, "user", name, nullptr, kSessionKeyring));
}
int use_keyctl(const Arguments&) { return result_of(::syscall(SYS_keyctl, kKeyctlJoinSession, nullptr)); }
int add_key(const Arguments&) { return result_of(::syscall(SYS_add_key, "user", "made-inside", "x", 1, kSessionKeyring)); }

int io_uring(const Arguments&) {
  char parameters[256] = {};
  return result_of(::syscall(SYS_io_uring_setup, 4, parameters));
}
int bpf(const Arguments&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = attributes.value_size = 4;
  attributes.max_entries = 1;
  return result_of(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}
int perf(const Arguments&) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  return result_of(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}
int userfaultfd(const Arguments&) { return result_of(::syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */)); }
int fanotify(const Arguments&) { return result_of(::syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY)); }
int open_by_handle(const Arguments&) {
  struct {
    file_handle head;
    char bytes[128];
  } handle{};
  handle.head.handle_bytes = sizeof handle.bytes;
  int mount_id = 0;
  if (::name_to_handle_at(AT_FDCWD, "/usr", &handle.head, &mount_id, 0) != 0) return errno;
  const int usr = ::open("/usr", O_RDONLY | O_DIRECTORY);
  return result_of(::open_by_handle_at(usr, &handle.head, O_RDONLY));
}
int set_host_name(const Arguments&) { return result_of(::sethostname("attack", 6)); }

// A character pushed into the terminal at descriptor 0, and the console's own paste.
int push_character(const Arguments&) {
  char character = '#';
  return result_of(::ioctl(STDIN_FILENO, TIOCSTI, &character));
}
// The kernel looks at 32 bits of the request only.
int push_character_high_bits(const Arguments&) {
  char character = '#';
  return result_of(::syscall(SYS_ioctl, STDIN_FILENO, 0x100000000UL | TIOCSTI, &character));
}
int paste(const Arguments&) {
  char code[2] = {3, 0};
  return result_of(::ioctl(STDIN_FILENO, 0x541C /* TIOCLINUX */, code));
}

const std::vector<Attempt> kKernelAttempts = {
    {"mount-devtmpfs", mount_devtmpfs}, {"mount-tmpfs", mount_tmpfs},
    {"remount", remount_root},          {"umount", unmount_proc},
    {"fsopen", new_mount_api},          {"proc-sys", write_proc_sys},
    {"find-key", find_key},             {"keyctl", use_keyctl},
    {"add-key", add_key},               {"io-uring", io_uring},
    {"bpf", bpf},                       {"perf", perf},
    {"userfaultfd", userfaultfd},       {"fanotify", fanotify},
    {"handle", open_by_handle},         {"hostname", set_host_name},
    {"tiocsti", push_character},        {"tiocsti-high", push_character_high_bits},
    {"tioclinux", paste},
};

// True when the attempt was refused.
bool refused(const std::string& name, const Arguments& arguments) {
  for (const auto* list : {&kKernelAttempts, &kSocketAttempts, &kProcessAttempts}) {
    for (const Attempt& attempt : *list) {
      if (name != attempt.name) continue;
      const int error = attempt.run(arguments);
      std::printf("%s %s\n", attempt.name, error == 0 ? "ALLOWED" : "refused");
      if (error != 0) std::printf("  (%s)\n", std::strerror(error));
      return error != 0;
    }
  }
  std::printf("no attack is named %s\n", name.c_str());
  std::exit(2);
}

// with-key NAME COMMAND…: the command with a session key ring that holds a key of this name.
int with_key(char** arguments) {
  if (::syscall(SYS_keyctl, kKeyctlJoinSession, nullptr) < 0) return 77;
  if (::syscall(SYS_add_key, "user", arguments[0], "secret", 6, kSessionKeyring) < 0) return 77;
  ::execvp(arguments[1], arguments + 1);
  return 127;
}

// descriptors: every open descriptor above 2; exits 0 when there is none.
int list_descriptors() {
  constexpr int kLast = 4096;
  int open_ones = 0;
  for (int fd = 3; fd < kLast; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) continue;
    std::printf("descriptor %d is open\n", fd);
    ++open_ones;
  }
  return open_ones == 0 ? 0 : 1;
}

int all_refused(const std::string& names, const Arguments& arguments) {
  bool good = true;
  for (std::size_t start = 0; start <= names.size();) {
    std::size_t end = names.find(',', start);
    if (end == std::string::npos) end = names.size();
    good = refused(names.substr(start, end - start), arguments) && good;
    start = end + 1;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace attack

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string name = arguments[1];
  if (name == "with-key" && count >= 4) return attack::with_key(arguments + 2);
  if (name == "descriptors") return attack::list_descriptors();
  return attack::all_refused(name, attack::Arguments(arguments + 2, arguments + count));
}
