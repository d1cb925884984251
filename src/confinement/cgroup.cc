#include "confinement/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "base/ranges.h"
#include "base/strings.h"
#include "base/unique_fd.h"
#include "domain/path.h"
#include "system/file.h"

namespace cofferdam::confinement {
namespace {

constexpr std::string_view kRoot = "/sys/fs/cgroup";
constexpr std::array<std::string_view, 3> kControllers = {"memory", "pids", "cpu"};
constexpr int kCpuPeriodMicroseconds = 100'000;

bool writable(const std::string& path) {
  return ::access(path.c_str(), W_OK) == 0;
}
bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::string read_small(const std::string& path) {
  auto content = system::read_file(path, std::size_t{1} << 16);
  return content ? std::move(*content) : std::string();
}

Status write_file(const std::string& path, std::string_view value) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "open " + path);
  return system::write_all(file.get(), value, path);
}

std::string controller_of(std::string_view limit) {
  return limit == "cpus" ? "cpu" : std::string(limit);
}

bool needs_cgroup(const PlannedLimit& limit) {
  return limit.means == PlannedLimit::Means::kCgroupV1 || limit.means == PlannedLimit::Means::kCgroupV2;
}

// The nearest ancestor of our own group where a sub-group with the controllers may be made. Our own group holds
// processes (this one), and version 2 then allows no controllers below it.
std::string delegated_ancestor(std::string own) {
  while (own.size() > kRoot.size()) {
    own = domain::parent_of(own);
    const std::string enabled = read_small(own + "/cgroup.subtree_control");
    const bool complete = std::ranges::all_of(
        kControllers, [&](std::string_view controller) { return contains(split(trimmed(enabled), ' '), controller); });
    if (complete && writable(own) && writable(own + "/cgroup.procs")) return own;
  }
  return "";
}

CgroupFacts facts_of_v2(const std::string& own_path) {
  CgroupFacts facts;
  const std::string directory = delegated_ancestor(std::string(kRoot) + own_path);
  if (directory.empty()) {
    facts.detail = "cgroup version 2, but no group above this process is delegated to this user";
    return facts;
  }
  facts.mode = CgroupMode::kV2;
  for (const std::string_view controller : kControllers) facts.directories.emplace(controller, directory);
  return facts;
}

CgroupFacts facts_of_v1(const std::vector<std::pair<std::string, std::string>>& hierarchies) {
  CgroupFacts facts;
  for (const auto& [controllers, path] : hierarchies) {
    for (const std::string_view controller : split(controllers, ',')) {
      if (!contains(kControllers, controller)) continue;
      // A container may show only its own part of the hierarchy, mounted at the top.
      const std::string top = domain::joined(kRoot, controllers);
      for (const std::string& directory : {top + (path == "/" ? "" : path), top}) {
        if (exists(directory + "/cgroup.procs") && writable(directory)) {
          facts.directories.emplace(controller, directory);
          break;
        }
      }
    }
  }
  if (facts.directories.empty()) {
    facts.detail = "cgroup version 1, which only root may use";
  } else {
    facts.mode = CgroupMode::kV1;
  }
  return facts;
}

// File and value by which a limit is set.
std::pair<std::string, std::string> setting_of(const PlannedLimit& limit) {
  const bool v2 = limit.means == PlannedLimit::Means::kCgroupV2;
  const std::string whole = std::to_string(static_cast<std::uint64_t>(limit.value));
  if (limit.name == "memory") return {v2 ? "memory.max" : "memory.limit_in_bytes", whole};
  if (limit.name == "pids") return {"pids.max", whole};
  const std::string quota = std::to_string(std::lround(limit.value * kCpuPeriodMicroseconds));
  if (v2) return {"cpu.max", quota + " " + std::to_string(kCpuPeriodMicroseconds)};
  return {"cpu.cfs_quota_us", quota};
}

// Swap would let a process pass its memory limit by the size of the swap space; where swap is not accounted
// there is nothing to set.
void forbid_swap(const std::string& directory, const PlannedLimit& limit) {
  if (limit.means == PlannedLimit::Means::kCgroupV2) {
    (void)write_file(directory + "/memory.swap.max", "0");
  } else {
    (void)write_file(directory + "/memory.memsw.limit_in_bytes",
                     std::to_string(static_cast<std::uint64_t>(limit.value)));
  }
}

void kill_members(const std::string& directory) {
  if (write_file(directory + "/cgroup.kill", "1")) return;
  for (const std::string_view line : split(read_small(directory + "/cgroup.procs"), '\n')) {
    if (const auto pid = parse_decimal(line)) ::kill(static_cast<pid_t>(*pid), SIGKILL);
  }
}

}  // namespace

CgroupFacts read_cgroup_facts() {
  std::vector<std::pair<std::string, std::string>> v1;
  std::string v2_path;
  for (const std::string_view line : split(read_small("/proc/self/cgroup"), '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      v2_path = path;
    } else {
      v1.emplace_back(controllers, path);
    }
  }
  if (exists(std::string(kRoot) + "/cgroup.controllers")) return facts_of_v2(v2_path);
  return facts_of_v1(v1);
}

std::vector<std::string> Cgroup::directories_for(const CgroupFacts& facts, const std::string& run_id,
                                                 const std::vector<PlannedLimit>& limits) {
  std::vector<std::string> out;
  for (const PlannedLimit& limit : limits) {
    if (!needs_cgroup(limit)) continue;
    const auto found = facts.directories.find(controller_of(limit.name));
    if (found == facts.directories.end()) continue;
    std::string directory = found->second + "/cofferdam-" + run_id;
    if (!contains(out, directory)) out.push_back(std::move(directory));
  }
  return out;
}

Result<Cgroup> Cgroup::create(const CgroupFacts& facts, const std::string& run_id,
                              const std::vector<PlannedLimit>& limits) {
  Cgroup group;
  for (std::string& directory : directories_for(facts, run_id, limits)) {
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return Error::from_errno(errno, "make " + directory);
    group.directories_.push_back(std::move(directory));
  }
  for (const PlannedLimit& limit : limits) {
    if (!needs_cgroup(limit)) continue;
    const std::string directory = facts.directories.at(controller_of(limit.name)) + "/cofferdam-" + run_id;
    const auto [file, value] = setting_of(limit);
    RETURN_IF_ERROR(in_context(write_file(directory + "/" + file, value), "set the limit " + limit.name));
    if (limit.name != "memory") continue;
    forbid_swap(directory, limit);
    group.memory_events_ =
        directory + (limit.means == PlannedLimit::Means::kCgroupV2 ? "/memory.events" : "/memory.oom_control");
  }
  return group;
}

Cgroup::~Cgroup() {
  for (const std::string& directory : directories_) remove_cgroup(directory);
}

Status Cgroup::add(pid_t pid) const {
  for (const std::string& directory : directories_) {
    RETURN_IF_ERROR(write_file(directory + "/cgroup.procs", std::to_string(pid)));
  }
  return {};
}

bool Cgroup::ran_out_of_memory() const {
  if (memory_events_.empty()) return false;
  for (const std::string_view line : split(read_small(memory_events_), '\n')) {
    if (line.starts_with("oom_kill ")) return parse_decimal(line.substr(9)).value_or(0) > 0;
  }
  return false;
}

void remove_cgroup(const std::string& directory) {
  constexpr int kAttempts = 200;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 2'000'000};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::rmdir(directory.c_str()) == 0 || errno != EBUSY) return;
    if (attempt > 0) kill_members(directory);
    ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace cofferdam::confinement
