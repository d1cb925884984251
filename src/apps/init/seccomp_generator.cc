// Build-time program: compiles the seccomp policy with libseccomp and prints it as an array of instructions, so
// that starting a sandbox neither loads the library nor compiles anything.
//
// The policy is a deny list. What it refuses gives EPERM (or ENOSYS where callers fall back on it), so that
// programs go on with less instead of dying.
#include <errno.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

void require(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "seccomp policy: %s: %s\n", what, std::strerror(-result));
  std::exit(1);
}

// The library's own macros for this are C.
scmp_arg_cmp compare(unsigned argument, scmp_compare operation, std::uint64_t value, std::uint64_t second = 0) {
  return {.arg = argument, .op = operation, .datum_a = value, .datum_b = second};
}

class Policy {
 public:
  Policy() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    require(context_ == nullptr ? -ENOMEM : 0, "start");
    // Programs of the machine's other ABIs run under the same rules.
#if defined(__x86_64__)
    require(seccomp_arch_add(context_, SCMP_ARCH_X86), "add x86");
    require(seccomp_arch_add(context_, SCMP_ARCH_X32), "add x32");
#elif defined(__aarch64__)
    require(seccomp_arch_add(context_, SCMP_ARCH_ARM), "add arm");
#endif
    require(seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2), "ask for a binary tree");
  }
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  ~Policy() { seccomp_release(context_); }

  void deny(const char* name, int error = EPERM) { add(name, error, {}); }

  void deny_if(const char* name, unsigned argument, std::uint64_t mask, std::uint64_t value, int error = EPERM) {
    add(name, error, {compare(argument, SCMP_CMP_MASKED_EQ, mask, value)});
  }

  void deny_when(const char* name, scmp_arg_cmp condition, int error) { add(name, error, {condition}); }

  void deny_pair(const char* name, scmp_arg_cmp first, scmp_arg_cmp second, int error) {
    add(name, error, {first, second});
  }

  // A system call that is newer than the library; such numbers are the same on every architecture.
  void deny_number(std::uint32_t number) { new_calls_.push_back(number); }

  void print(const char* name) const {
    std::FILE* file = std::tmpfile();
    require(file == nullptr ? -errno : 0, "make a temporary file");
    require(seccomp_export_bpf(context_, fileno(file)), "export");
    std::rewind(file);
    struct {
      std::uint16_t code;
      std::uint8_t jump_true;
      std::uint8_t jump_false;
      std::uint32_t k;
    } instruction;
    std::printf("constexpr sock_filter %s[] = {\n", name);
    print_new_calls();
    while (std::fread(&instruction, sizeof instruction, 1, file) == 1) {
      std::printf("  {%u, %u, %u, %uU},\n", instruction.code, instruction.jump_true, instruction.jump_false,
                  instruction.k);
    }
    std::printf("};\n");
    std::fclose(file);
  }

 private:
  void print_new_calls() const {
    constexpr std::uint32_t kX32Bit = 0x40000000;
    std::printf("  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),\n");
    for (const std::uint32_t number : new_calls_) {
      for (const std::uint32_t variant : {number, number | kX32Bit}) {
        std::printf("  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, %uU, 0, 1),\n", variant);
        std::printf("  BPF_STMT(BPF_RET | BPF_K, %uU),\n", SCMP_ACT_ERRNO(EPERM));
      }
    }
  }

  void add(const char* name, int error, std::vector<scmp_arg_cmp> conditions) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;  // not on this architecture
    const int result = seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), number,
                                              static_cast<unsigned>(conditions.size()), conditions.data());
    // Calls of the multiplexed kind cannot carry conditions on x86; the direct calls do.
    if (result == -EINVAL || result == -EDOM) return;
    require(result, name);
  }

  scmp_filter_ctx context_;
  std::vector<std::uint32_t> new_calls_;
};

void deny_kernel_surface(Policy& policy) {
  for (const char* name : {"keyctl",
                           "add_key",
                           "request_key",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "io_uring_setup",
                           "io_uring_enter",
                           "io_uring_register",
                           "process_vm_readv",
                           "process_vm_writev",
                           "pidfd_getfd",
                           "kcmp",
                           "open_by_handle_at",
                           "fanotify_init",
                           "kexec_load",
                           "kexec_file_load",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "reboot",
                           "swapon",
                           "swapoff",
                           "acct",
                           "quotactl",
                           "quotactl_fd",
                           "syslog",
                           "settimeofday",
                           "clock_settime",
                           "clock_adjtime",
                           "adjtimex",
                           "stime",
                           "iopl",
                           "ioperm",
                           "lookup_dcookie",
                           "nfsservctl",
                           "vm86",
                           "vm86old",
                           "uselib",
                           "ustat",
                           "sysfs",
                           "_sysctl",
                           "vhangup",
                           "sethostname",
                           "setdomainname",
                           "move_pages",
                           "migrate_pages"}) {
    policy.deny(name);
  }
  // Debuggers may start a program of their own; nobody may reach into another.
  policy.deny_if("ptrace", 0, 0xffffffff, PTRACE_ATTACH);
  policy.deny_if("ptrace", 0, 0xffffffff, PTRACE_SEIZE);
  // Characters pushed into a terminal are read by whoever holds it next.
  policy.deny_if("ioctl", 1, 0xffffffff, TIOCSTI);
  policy.deny_if("ioctl", 1, 0xffffffff, TIOCLINUX);
}

void deny_sockets(Policy& policy) {
  // One rule for each family is long, and a long filter costs time at every start: families above the highest one
  // that is allowed share a rule.
  for (int family = 0; family < AF_NETLINK; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    policy.deny_if("socket", 0, 0xffffffff, static_cast<std::uint64_t>(family), EAFNOSUPPORT);
  }
  policy.deny_when("socket", compare(0, SCMP_CMP_GT, AF_NETLINK), EAFNOSUPPORT);
  policy.deny_when("socketpair", compare(0, SCMP_CMP_NE, AF_UNIX), EAFNOSUPPORT);
  // The multiplexed form of 32-bit programs carries the family in memory, where no filter can read it.
  for (const std::uint64_t call : {std::uint64_t{SYS_SOCKET}, std::uint64_t{SYS_SOCKETPAIR}}) {
    policy.deny_if("socketcall", 0, 0xffffffff, call, EAFNOSUPPORT);
  }
  // Netlink only for questions about routes and addresses.
  policy.deny_pair("socket", compare(0, SCMP_CMP_MASKED_EQ, 0xffffffff, AF_NETLINK),
                   compare(2, SCMP_CMP_NE, NETLINK_ROUTE), EPROTONOSUPPORT);
}

void deny_namespaces(Policy& policy) {
  for (const char* name : {"mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
                           "fsconfig", "fsmount", "fspick", "mount_setattr", "setns"}) {
    policy.deny(name);
  }
  constexpr std::uint32_t kOpenTreeAttr = 467;
  policy.deny_number(kOpenTreeAttr);
  constexpr std::uint64_t kTimeNamespace = 0x00000080;
  for (const std::uint64_t flag :
       {std::uint64_t{CLONE_NEWNS}, std::uint64_t{CLONE_NEWCGROUP}, std::uint64_t{CLONE_NEWUTS},
        std::uint64_t{CLONE_NEWIPC}, std::uint64_t{CLONE_NEWUSER}, std::uint64_t{CLONE_NEWPID},
        std::uint64_t{CLONE_NEWNET}}) {
    policy.deny_if("unshare", 0, flag, flag);
    policy.deny_if("clone", 0, flag, flag);
  }
  policy.deny_if("unshare", 0, kTimeNamespace, kTimeNamespace);
  // Its flags lie in memory where no filter can read them; callers fall back to clone.
  policy.deny("clone3", ENOSYS);
}

}  // namespace

int main() {
  std::printf("// Generated from src/apps/init/seccomp_generator.cc.\n#pragma once\n#include <linux/filter.h>\n");
  {
    Policy policy;
    deny_kernel_surface(policy);
    deny_sockets(policy);
    policy.print("kFilterForNested");
  }
  {
    Policy policy;
    deny_kernel_surface(policy);
    deny_sockets(policy);
    deny_namespaces(policy);
    policy.print("kFilter");
  }
  return 0;
}
