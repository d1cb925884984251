#include "control/doctor.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <optional>

#include "base/strings.h"
#include "confinement/cgroup.h"
#include "confinement/linux_host_view.h"
#include "confinement/trusted_program.h"
#include "control/doctor_probe.h"
#include "system/file.h"
#include "system/owner_umask.h"
#include "system/state_dir.h"

namespace cofferdam::control {
namespace {

using confinement::CgroupMode;
using confinement::HostFacts;
using State = Finding::State;

constexpr std::size_t kSettingBytes = 4096;
constexpr int kLandlockWithScopes = 6;

std::optional<std::string> setting(const std::string& path) {
  const auto content = system::read_file(path, kSettingBytes);
  if (!content) return std::nullopt;
  return std::string(trimmed(*content));
}

Finding ok(std::string id, std::string title, std::string detail) {
  return {.id = std::move(id), .title = std::move(title), .state = State::kOk, .detail = std::move(detail)};
}

Finding kernel() {
  utsname name{};
  ::uname(&name);
  return ok("kernel", "Kernel", std::string(name.sysname) + " " + name.release + " on " + name.machine);
}

Finding companions() {
  Finding finding = ok("programs", "Cofferdam's programs", "");
  for (const char* program : {"cofferdam-init", "cofferdam-egress"}) {
    const auto path = confinement::companion_program(program);
    if (!path) {
      finding.state = State::kFailed;
      finding.detail = path.error().message();
      finding.remedy = path.error().hint();
      return finding;
    }
    finding.detail += (finding.detail.empty() ? "" : ", ") + *path;
  }
  return finding;
}

Finding bubblewrap(const confinement::HostView& host, std::string& path) {
  const auto found = confinement::find_bubblewrap(host, "bwrap", {});
  if (!found) {
    return {.id = "bubblewrap",
            .title = "Bubblewrap",
            .state = State::kFailed,
            .detail = found.error().message(),
            .remedy = "apt-get install bubblewrap"};
  }
  path = *found;
  const std::string version = program_version(path);
  Finding finding = ok("bubblewrap", "Bubblewrap", path + ", " + version + ", belongs to root");
  if (!is_new_enough_bubblewrap(version)) {
    finding.state = State::kFailed;
    finding.detail += "; 0.8.0 or newer is needed";
    finding.remedy = "apt-get install bubblewrap (from a newer release)";
  }
  return finding;
}

Finding user_namespaces() {
  Finding finding = ok("user_namespaces", "User namespaces", "");
  const auto most = setting("/proc/sys/user/max_user_namespaces");
  const auto unprivileged = setting("/proc/sys/kernel/unprivileged_userns_clone");
  if (!most) {
    finding.state = State::kFailed;
    finding.detail = "this kernel has none";
    finding.remedy = "boot a kernel with CONFIG_USER_NS";
  } else if (*most == "0") {
    finding.state = State::kFailed;
    finding.detail = "user.max_user_namespaces is 0";
    finding.remedy = "sysctl -w user.max_user_namespaces=15000";
  } else if (unprivileged && *unprivileged == "0" && ::geteuid() != 0) {
    finding.state = State::kFailed;
    finding.detail = "kernel.unprivileged_userns_clone is 0";
    finding.remedy = "sysctl -w kernel.unprivileged_userns_clone=1";
  } else {
    finding.detail = "up to " + *most;
  }
  return finding;
}

Finding apparmor() {
  Finding finding = ok("apparmor", "AppArmor restriction", "none");
  const auto restricted = setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  if (!restricted || *restricted == "0") return finding;
  // A profile for bubblewrap may lift it; the confined probe below decides.
  finding.state = State::kDegraded;
  finding.detail =
      "kernel.apparmor_restrict_unprivileged_userns is " + *restricted + "; bubblewrap needs a profile with `userns,`";
  finding.remedy = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  return finding;
}

Finding landlock(const HostFacts& facts) {
  Finding finding = ok("landlock", "Landlock", "ABI " + std::to_string(facts.landlock_abi));
  if (facts.landlock_abi == 0) {
    finding.state = State::kDegraded;
    finding.detail = "not in this kernel or switched off; the mounts are the only lock on files";
    finding.remedy = "boot with lsm=landlock,… on kernel 5.13 or newer";
  } else if (facts.landlock_abi < kLandlockWithScopes) {
    finding.state = State::kDegraded;
    finding.detail += "; abstract UNIX sockets stay reachable with --network open (needs ABI 6, kernel 6.12)";
    finding.remedy = "a newer kernel, or any --network but open";
  }
  return finding;
}

Finding seccomp() {
  const auto status = system::read_file("/proc/self/status", std::size_t{1} << 16);
  if (status && status->find("Seccomp:") != std::string::npos) {
    return ok("seccomp", "Seccomp filters", "available");
  }
  return {.id = "seccomp",
          .title = "Seccomp filters",
          .state = State::kFailed,
          .detail = "this kernel has none",
          .remedy = "boot a kernel with CONFIG_SECCOMP_FILTER"};
}

Finding cgroups(const HostFacts& facts) {
  Finding finding = ok("cgroups", "Control groups", "");
  switch (facts.cgroups.mode) {
    case CgroupMode::kV2:
      finding.detail = "version 2, delegated: memory, pids and cpus can be limited";
      break;
    case CgroupMode::kV1:
      finding.detail = "version 1, writable: memory, pids and cpus can be limited";
      break;
    case CgroupMode::kNone:
      finding.state = State::kDegraded;
      finding.detail = facts.cgroups.detail + "; --memory and --cpus are refused, pids has a resource limit";
      finding.remedy =
          "run as root, or `systemd-run --user --scope -p Delegate=yes cofferdam run …` on cgroup version 2";
      break;
  }
  return finding;
}

Finding state_directory() {
  const system::OwnerUmask umask;
  const auto path = system::state_directory();
  const Status made = path ? system::make_private_directories(*path) : Status(path.error());
  if (made && ::access(path->c_str(), W_OK) == 0) return ok("state", "State directory", *path);
  return {.id = "state",
          .title = "State directory",
          .state = State::kFailed,
          .detail = path ? *path + " cannot be written" : path.error().message(),
          .remedy = "set COFFERDAM_STATE_DIR to a directory of your own"};
}

Finding from_probe(std::string id, std::string title, const ProbeResult& result, std::string good) {
  Finding finding = ok(std::move(id), std::move(title), std::move(good));
  if (result.worked) return finding;
  finding.state = State::kFailed;
  finding.detail = result.error;
  finding.remedy = result.hint;
  return finding;
}

}  // namespace

std::vector<Finding> examine_host() {
  std::vector<Finding> findings = {kernel(), companions(), seccomp(), user_namespaces(), apparmor(), state_directory()};
  const auto host = confinement::LinuxHostView::create();
  if (!host) {
    findings.push_back({.id = "confined_run",
                        .title = "A confined command",
                        .state = State::kFailed,
                        .detail = host.error().to_string(),
                        .remedy = host.error().hint()});
    return findings;
  }
  std::string bubblewrap_path;
  findings.push_back(bubblewrap(*host, bubblewrap_path));
  findings.push_back(landlock(host->facts()));
  findings.push_back(cgroups(host->facts()));
  if (bubblewrap_path.empty()) return findings;
  findings.push_back(from_probe("confined_run", "A confined command", probe_confined_run(),
                                "starts, in its own namespaces, behind every lock"));
  findings.push_back(
      from_probe("loopback", "Loopback inside", probe_loopback(), "the network namespace has a working loopback"));
  return findings;
}

}  // namespace cofferdam::control
