#include "confinement/limits_plan.h"

namespace cofferdam::confinement {
namespace {

using Means = PlannedLimit::Means;

Means cgroup_means(const CgroupFacts& cgroups, const std::string& controller) {
  if (!cgroups.directories.contains(controller)) return Means::kNone;
  return cgroups.mode == CgroupMode::kV2 ? Means::kCgroupV2 : Means::kCgroupV1;
}

Error not_enforceable(const std::string& name, const CgroupFacts& cgroups) {
  const std::string why = cgroups.detail.empty() ? "no usable control group" : cgroups.detail;
  return Error(ErrorCode::kUnsupported, "The limit \"" + name + "\" cannot be enforced here: " + why)
      .with_hint(
          "Run as root, or from a session whose control group is delegated (systemd-run --user --scope "
          "-p Delegate=yes …), or leave the limit out. `cofferdam doctor` shows what is in force.");
}

class LimitsPlanner {
 public:
  LimitsPlanner(const CgroupFacts& cgroups, uid_t kernel_uid) : cgroups_(cgroups), kernel_uid_(kernel_uid) {}

  void require_cgroup(const std::string& name, const std::string& controller, double value) {
    const Means means = cgroup_means(cgroups_, controller);
    if (means == Means::kNone) plan_.obstacles.push_back(not_enforceable(name, cgroups_));
    add(name, value, means);
  }

  void add(const std::string& name, double value, Means means) {
    plan_.limits.push_back({.name = name, .value = value, .means = means, .requested = true});
  }

  // The kernel counts the processes of one user inside one user namespace, so the resource limit is exact for an
  // ordinary user; it does not hold for the kernel's uid 0. A control group holds for everybody, but moving a process
  // into one costs several milliseconds at every start, so only an explicit wish makes one.
  void add_pids(std::optional<std::uint64_t> requested) {
    PlannedLimit limit{.name = "pids",
                       .value = static_cast<double>(requested.value_or(kDefaultPids)),
                       .means = Means::kRlimit,
                       .requested = requested.has_value()};
    if (requested) {
      const Means means = cgroup_means(cgroups_, "pids");
      if (means == Means::kNone && kernel_uid_ == 0) plan_.obstacles.push_back(not_enforceable("pids", cgroups_));
      if (means != Means::kNone || kernel_uid_ == 0) limit.means = means;
    } else if (kernel_uid_ == 0) {
      limit.means = Means::kNone;
      limit.remark = "No limit of processes holds for this run, which keeps root's user id; --pids N sets one";
    }
    plan_.limits.push_back(std::move(limit));
  }

  void add_tmpfs(std::optional<std::uint64_t> requested) {
    plan_.limits.push_back({.name = "tmpfs_size",
                            .value = static_cast<double>(requested.value_or(kDefaultTmpfsBytes)),
                            .means = Means::kTmpfs,
                            .requested = requested.has_value()});
  }

  LimitsPlan take() && { return std::move(plan_); }

 private:
  const CgroupFacts& cgroups_;
  uid_t kernel_uid_;
  LimitsPlan plan_;
};

}  // namespace

LimitsPlan plan_limits(const domain::Limits& limits, const CgroupFacts& cgroups, uid_t kernel_uid) {
  LimitsPlanner planner(cgroups, kernel_uid);
  if (limits.memory_bytes) {
    planner.require_cgroup("memory", "memory", static_cast<double>(*limits.memory_bytes));
  }
  if (limits.cpus) planner.require_cgroup("cpus", "cpu", *limits.cpus);
  planner.add_pids(limits.pids);
  planner.add_tmpfs(limits.tmpfs_bytes);
  if (limits.open_files) planner.add("open_files", static_cast<double>(*limits.open_files), Means::kRlimit);
  if (limits.file_size_bytes) planner.add("file_size", static_cast<double>(*limits.file_size_bytes), Means::kRlimit);
  if (limits.cpu_time) planner.add("cpu_time", static_cast<double>(limits.cpu_time->count()), Means::kRlimit);
  if (limits.wall_clock) {
    planner.add("wall_clock", static_cast<double>(limits.wall_clock->count()) / 1000.0, Means::kTimer);
  }
  return std::move(planner).take();
}

}  // namespace cofferdam::confinement
