#include "locks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "report.h"
#include "seccomp_filters.h"

namespace cofferdam::init {
namespace {

// From the kernel's include/uapi/linux/landlock.h; the headers of the build machine may be older than the kernel.
namespace landlock {
constexpr std::uint64_t kExecute = 1ULL << 0;
constexpr std::uint64_t kWriteFile = 1ULL << 1;
constexpr std::uint64_t kReadFile = 1ULL << 2;
constexpr std::uint64_t kReadDirectory = 1ULL << 3;
constexpr std::uint64_t kFirstAbi = (1ULL << 13) - 1;       // … up to making symbolic links
constexpr std::uint64_t kRefer = 1ULL << 13;                // ABI 2
constexpr std::uint64_t kTruncate = 1ULL << 14;             // ABI 3
constexpr std::uint64_t kIoctlDevice = 1ULL << 15;          // ABI 5
constexpr std::uint64_t kScopeAbstractSockets = 1ULL << 0;  // ABI 6
constexpr std::uint64_t kScopeSignals = 1ULL << 1;

constexpr std::uint64_t kReadable = kExecute | kReadFile | kReadDirectory;
constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
constexpr int kRulePathBeneath = 1;

std::uint64_t handled_by(std::uint32_t abi) {
  std::uint64_t rights = kFirstAbi;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}
}  // namespace landlock

void add_rule(int ruleset, const confinement::init::LandlockPath& rule, std::uint64_t handled) {
  const int path = ::open(rule.path.c_str(), O_PATH | O_CLOEXEC);
  if (path < 0) return;  // nothing is there, so nothing is granted
  struct stat status{};
  ::fstat(path, &status);
  std::uint64_t rights = (rule.writable ? ~std::uint64_t{0} : landlock::kReadable | landlock::kIoctlDevice) & handled;
  if (!S_ISDIR(status.st_mode)) rights &= landlock::kFileRights;
  const landlock::PathBeneath beneath{.allowed_access = rights, .parent_fd = path};
  if (::syscall(SYS_landlock_add_rule, ruleset, landlock::kRulePathBeneath, &beneath, 0) != 0) {
    fail_setup(errno, "add a Landlock rule for " + rule.path);
  }
  ::close(path);
}

}  // namespace

int prepare_landlock(const confinement::init::Specification& spec) {
  if (spec.landlock_abi == 0) return -1;
  const std::uint64_t handled = landlock::handled_by(spec.landlock_abi);
  landlock::RulesetAttributes attributes{.handled_access_fs = handled, .handled_access_net = 0, .scoped = 0};
  std::size_t size = sizeof attributes.handled_access_fs;
  if (spec.landlock_abi >= 6) {
    attributes.scoped = landlock::kScopeAbstractSockets | landlock::kScopeSignals;
    size = sizeof attributes;
  }
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) fail_setup(errno, "make a Landlock ruleset");
  for (const auto& rule : spec.landlock) add_rule(ruleset, rule, handled);
  return ruleset;
}

int set_limits(const confinement::init::Specification& spec) {
  for (const auto& limit : spec.limits) {
    rlimit current{};
    const auto resource = static_cast<__rlimit_resource>(limit.resource);
    if (::getrlimit(resource, &current) != 0) return errno;
    const rlim_t value = limit.value < current.rlim_max ? limit.value : current.rlim_max;
    rlimit wanted{.rlim_cur = value, .rlim_max = value};
    // First a signal that can be handled and names the reason, then the end.
    constexpr rlim_t kCpuGraceSeconds = 2;
    if (resource == RLIMIT_CPU && current.rlim_max - value > kCpuGraceSeconds)
      wanted.rlim_max = value + kCpuGraceSeconds;
    if (::setrlimit(resource, &wanted) != 0) return errno;
  }
  return 0;
}

int enter_landlock(int ruleset) {
  if (ruleset < 0) return 0;
  return ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? 0 : errno;
}

int enter_seccomp(bool nested_sandboxes) {
  const auto* filter = nested_sandboxes ? kFilterForNested : kFilter;
  const std::size_t length =
      nested_sandboxes ? sizeof kFilterForNested / sizeof *filter : sizeof kFilter / sizeof *filter;
  const sock_fprog program{.len = static_cast<unsigned short>(length), .filter = const_cast<sock_filter*>(filter)};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
}

}  // namespace cofferdam::init
