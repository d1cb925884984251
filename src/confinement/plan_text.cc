#include "confinement/plan_text.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/strings.h"

namespace cofferdam::confinement {
namespace {

namespace json = boost::json;
using domain::FilesystemScope;
using domain::NetworkScope;

std::string_view to_string(FilesystemScope scope) {
  return scope == FilesystemScope::kWorkspace ? "workspace" : "host";
}

std::string_view to_string(NetworkScope scope) {
  switch (scope) {
    case NetworkScope::kDeny:
      return "deny";
    case NetworkScope::kAllowlist:
      return "allowlist";
    case NetworkScope::kOpen:
      return "open";
  }
  return "deny";
}

json::value number_json(double value) {
  if (value == std::floor(value)) return static_cast<std::uint64_t>(value);
  return json::value(number_text(value));
}

constexpr std::string_view kNeverNested =
    "mount, umount, pivot_root, chroot, unshare and clone of namespaces, setns, the new mount calls";
constexpr std::string_view kNeverAtAll =
    "sockets other than UNIX, IPv4, IPv6 and route netlink (so no AF_VSOCK, AF_PACKET); io_uring; kernel keys; bpf; "
    "perf; userfaultfd; attaching to other processes; pushing input into terminals; clock, module, kexec and swap "
    "calls";

std::vector<std::string> namespace_names(const ConfinementPlan& plan) {
  std::vector<std::string> names = {"user", "mount", "pid", "ipc", "uts", "cgroup"};
  if (plan.network != NetworkScope::kOpen) names.emplace_back("net");
  return names;
}

std::string identity_text(const Identity& identity) {
  std::string out = "uid " + std::to_string(identity.inside_uid) + ", gid " + std::to_string(identity.inside_gid);
  if (identity.host_uid != identity.inside_uid) out += " (host uid " + std::to_string(identity.host_uid) + ")";
  if (identity.switch_user) out += ", the owner of the workspace";
  return out + ", no capabilities, no new privileges";
}

class TextWriter {
 public:
  void section(std::string_view title) {
    flush();
    if (!out_.empty()) out_ += '\n';
    out_ += title;
    out_ += '\n';
  }
  void row(std::string left, std::string middle, std::string right) {
    rows_.push_back({std::move(left), std::move(middle), std::move(right)});
  }
  std::string take() {
    flush();
    return std::move(out_);
  }

 private:
  struct Row {
    std::string left, middle, right;
  };

  void flush() {
    constexpr std::size_t kWidestColumn = 56;
    std::size_t left_width = 0;
    std::size_t middle_width = 0;
    for (const Row& row : rows_) {
      left_width = std::max(left_width, row.left.size());
      middle_width = std::max(middle_width, std::min(row.middle.size(), kWidestColumn));
    }
    for (const Row& row : rows_) {
      std::string line = "  " + row.left + std::string(left_width - row.left.size() + 2, ' ') + row.middle;
      if (!row.right.empty()) {
        if (row.middle.size() < middle_width) line += std::string(middle_width - row.middle.size(), ' ');
        line += "  " + row.right;
      }
      out_ += line + "\n";
    }
    rows_.clear();
  }

  std::string out_;
  std::vector<Row> rows_;
};

std::string mount_place(const Mount& mount) {
  std::string out = printable(mount.target);
  if (mount.kind == Mount::Kind::kSymlink) return out + " -> " + printable(mount.source);
  if ((mount.kind == Mount::Kind::kReadOnly || mount.kind == Mount::Kind::kReadWrite) && mount.source != mount.target) {
    out += " = " + printable(mount.source);
  }
  if (mount.kind == Mount::Kind::kTmpfs && mount.size_bytes != 0) {
    out += " (" + std::to_string(mount.size_bytes >> 20) + " MiB)";
  }
  return out;
}

std::string shown_command(const ConfinementPlan& plan) {
  std::string out;
  for (const std::string& word : plan.command) out += (out.empty() ? "" : " ") + printable(shell_quoted(word));
  return out;
}

void write_network(TextWriter& writer, const ConfinementPlan& plan) {
  writer.section("Network: " + std::string(to_string(plan.network)));
  if (plan.network == NetworkScope::kDeny) writer.row("nothing", "", "only the loopback of the sandbox");
  if (plan.network == NetworkScope::kOpen) writer.row("everything", "", "the host's network, loopback included");
  for (const domain::NetworkRule& rule : plan.deny) writer.row("deny", printable(rule.text), printable(rule.origin));
  for (const domain::NetworkRule& rule : plan.allow) writer.row("allow", printable(rule.text), printable(rule.origin));
  for (const Listener& listener : plan.listeners) {
    writer.row("listen", listener.address + ":" + std::to_string(listener.port),
               listener.payload == "proxy" ? "egress proxy" : "forwarded to the host's loopback");
  }
}

void write_locks(TextWriter& writer, const ConfinementPlan& plan) {
  writer.section("Locks");
  writer.row("namespaces", join(namespace_names(plan), ", "), "");
  writer.row("identity", identity_text(plan.identity), "");
  writer.row("seccomp", "refused: " + std::string(kNeverAtAll), "");
  if (!plan.nested_sandboxes) writer.row("", "refused: " + std::string(kNeverNested), "");
  writer.row("landlock", plan.landlock.abi == 0 ? "-" : "ABI " + std::to_string(plan.landlock.abi),
             plan.landlock.reason);
  for (const LandlockRule& rule : plan.landlock.rules) {
    writer.row("", rule.access == domain::Access::kReadOnly ? "read" : "write", printable(rule.path));
  }
  writer.row("keyring", "a new, empty session keyring", "");
  writer.row("descriptors", "0, 1 and 2 only", "");
}

void write_warnings(TextWriter& writer, const ConfinementPlan& plan) {
  if (plan.warnings.empty() && plan.obstacles.empty()) return;
  writer.section("Warnings");
  for (const std::string& warning : plan.warnings) writer.row("warning: " + warning, "", "");
  for (const Error& obstacle : plan.obstacles) {
    writer.row("would fail: " + printable(obstacle.to_string()), "", "");
    if (!obstacle.hint().empty()) writer.row("  hint: " + printable(obstacle.hint()), "", "");
  }
}

json::array obstacles_json(const ConfinementPlan& plan) {
  json::array out;
  for (const Error& obstacle : plan.obstacles) {
    out.push_back(json::object{{"message", printable(obstacle.to_string())}, {"hint", printable(obstacle.hint())}});
  }
  return out;
}

json::object mount_json(const Mount& mount) {
  json::object entry;
  entry["kind"] = to_string(mount.kind);
  entry["target"] = printable(mount.target);
  entry["source"] = mount.source.empty() ? json::value(nullptr) : json::value(printable(mount.source));
  entry["size_bytes"] = mount.size_bytes == 0 ? json::value(nullptr) : json::value(mount.size_bytes);
  entry["reason"] = mount.reason;
  return entry;
}

}  // namespace

std::string_view to_string(PlannedLimit::Means means) {
  switch (means) {
    case PlannedLimit::Means::kCgroupV2:
      return "cgroup v2";
    case PlannedLimit::Means::kCgroupV1:
      return "cgroup v1";
    case PlannedLimit::Means::kRlimit:
      return "resource limit";
    case PlannedLimit::Means::kTmpfs:
      return "size of the mount";
    case PlannedLimit::Means::kTimer:
      return "timer";
    case PlannedLimit::Means::kNone:
      return "none";
  }
  return "none";
}

std::string_view to_string(Mount::Kind kind) {
  switch (kind) {
    case Mount::Kind::kTmpfs:
      return "tmpfs";
    case Mount::Kind::kProc:
      return "proc";
    case Mount::Kind::kDev:
      return "dev";
    case Mount::Kind::kDirectory:
      return "directory";
    case Mount::Kind::kSymlink:
      return "link";
    case Mount::Kind::kReadOnly:
      return "read-only";
    case Mount::Kind::kReadWrite:
      return "writable";
    case Mount::Kind::kData:
      return "cover";
    case Mount::Kind::kFile:
      return "file";
    case Mount::Kind::kRemountReadOnly:
      return "seal";
  }
  return "";
}

std::string number_text(double value) {
  if (value == std::floor(value)) return std::to_string(static_cast<std::uint64_t>(value));
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string plan_as_text(const ConfinementPlan& plan) {
  TextWriter writer;
  writer.section("Command");
  if (!plan.command.empty()) writer.row("run", shown_command(plan), "");
  writer.row("in", printable(plan.working_directory), "");
  writer.row("by", plan.bubblewrap, "");
  writer.section("Files: " + std::string(to_string(plan.filesystem)));
  for (const Mount& mount : plan.mounts)
    writer.row(std::string(to_string(mount.kind)), mount_place(mount), mount.reason);
  for (const HomeFile& file : plan.home_files)
    writer.row("copy", printable(file.host_path), "copied in, and back if unchanged");
  for (const Placeholder& placeholder : plan.placeholders) {
    writer.row("placeholder", printable(placeholder.path), "made on the host for the run, then removed");
  }
  for (const std::string& path : plan.restore_paths)
    writer.row("result", printable(path), "its changes belong to the result");
  write_network(writer, plan);
  write_locks(writer, plan);
  writer.section("Limits");
  for (const PlannedLimit& limit : plan.limits) {
    writer.row(limit.name, number_text(limit.value),
               std::string(to_string(limit.means)) + (limit.requested ? "" : ", default") +
                   (limit.remark.empty() ? "" : "; " + limit.remark));
  }
  writer.section("Environment");
  for (const PlannedVariable& variable : plan.environment) {
    writer.row(printable(variable.name), printable(variable.value), variable.reason);
  }
  if (!plan.notes.empty() || !plan.announcement.empty()) writer.section("Said before the start");
  for (const std::string& note : plan.notes) writer.row(printable(note), "", "");
  if (!plan.announcement.empty()) writer.row(printable(plan.announcement), "", "");
  write_warnings(writer, plan);
  return writer.take();
}

std::string plan_as_json(const ConfinementPlan& plan) {
  json::object out;
  json::array command;
  for (const std::string& word : plan.command) command.emplace_back(printable(word));
  out["command"] = std::move(command);
  out["working_directory"] = printable(plan.working_directory);
  out["workspace"] = printable(plan.workspace);
  out["bubblewrap"] = plan.bubblewrap;
  json::array mounts;
  for (const Mount& mount : plan.mounts) mounts.push_back(mount_json(mount));
  json::array placeholders;
  for (const Placeholder& placeholder : plan.placeholders) placeholders.emplace_back(printable(placeholder.path));
  json::array copies;
  for (const HomeFile& file : plan.home_files) copies.emplace_back(printable(file.host_path));
  out["filesystem"] = json::object{{"scope", to_string(plan.filesystem)},
                                   {"mounts", std::move(mounts)},
                                   {"placeholders", std::move(placeholders)},
                                   {"home_copies", std::move(copies)}};
  const auto rules = [](const std::vector<domain::NetworkRule>& list) {
    json::array texts;
    for (const domain::NetworkRule& rule : list)
      texts.push_back(
          json::object{{"rule", printable(rule.text)}, {"trusted", rule.trusted}, {"origin", printable(rule.origin)}});
    return texts;
  };
  json::array listeners;
  for (const Listener& listener : plan.listeners) {
    listeners.push_back(
        json::object{{"address", listener.address}, {"port", listener.port}, {"serves", listener.payload}});
  }
  out["network"] = json::object{{"scope", to_string(plan.network)},
                                {"allow", rules(plan.allow)},
                                {"deny", rules(plan.deny)},
                                {"listeners", std::move(listeners)}};
  json::array namespaces;
  for (const std::string& name : namespace_names(plan)) namespaces.emplace_back(name);
  json::array landlock;
  for (const LandlockRule& rule : plan.landlock.rules) {
    landlock.push_back(json::object{{"path", printable(rule.path)},
                                    {"access", rule.access == domain::Access::kReadOnly ? "read" : "write"}});
  }
  out["locks"] = json::object{
      {"namespaces", std::move(namespaces)},
      {"nested_sandboxes", plan.nested_sandboxes},
      {"inside_uid", plan.identity.inside_uid},
      {"inside_gid", plan.identity.inside_gid},
      {"host_uid", plan.identity.host_uid},
      {"host_gid", plan.identity.host_gid},
      {"capabilities", json::array()},
      {"seccomp_refuses", plan.nested_sandboxes ? json::array{kNeverAtAll} : json::array{kNeverAtAll, kNeverNested}},
      {"landlock",
       json::object{{"abi", plan.landlock.abi}, {"reason", plan.landlock.reason}, {"rules", std::move(landlock)}}}};
  json::array limits;
  for (const PlannedLimit& limit : plan.limits) {
    limits.push_back(json::object{{"name", limit.name},
                                  {"value", number_json(limit.value)},
                                  {"means", to_string(limit.means)},
                                  {"requested", limit.requested},
                                  {"remark", limit.remark}});
  }
  out["limits"] = std::move(limits);
  json::array environment;
  for (const PlannedVariable& variable : plan.environment) {
    environment.push_back(json::object{
        {"name", printable(variable.name)}, {"value", printable(variable.value)}, {"reason", variable.reason}});
  }
  out["environment"] = std::move(environment);
  json::array notes;
  for (const std::string& note : plan.notes) notes.emplace_back(printable(note));
  out["notes"] = std::move(notes);
  json::array warnings;
  for (const std::string& warning : plan.warnings) warnings.emplace_back(warning);
  out["warnings"] = std::move(warnings);
  out["would_fail"] = obstacles_json(plan);
  out["announcement"] = printable(plan.announcement);
  json::array restore;
  for (const std::string& path : plan.restore_paths) restore.emplace_back(printable(path));
  out["restore_paths"] = std::move(restore);
  return json::serialize(out) + "\n";
}

}  // namespace cofferdam::confinement
