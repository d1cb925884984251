#include "confinement/bubblewrap.h"

#include <cstdio>
#include <optional>

#include "base/strings.h"

namespace cofferdam::confinement {
namespace {

using domain::NetworkScope;

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

class ArgumentBuilder {
 public:
  explicit ArgumentBuilder(int first_data_fd) : first_data_fd_(first_data_fd) {}

  template <class... Words>
  void add(Words&&... words) {
    (out_.arguments.emplace_back(std::forward<Words>(words)), ...);
  }

  std::string data(std::string content) {
    out_.contents.push_back(std::move(content));
    return std::to_string(first_data_fd_ + static_cast<int>(out_.contents.size()) - 1);
  }

  void add_mount(const Mount& mount) {
    switch (mount.kind) {
      case Mount::Kind::kTmpfs:
        if (mount.mode != 0) add("--perms", octal(mount.mode));
        if (mount.size_bytes != 0) add("--size", std::to_string(mount.size_bytes));
        return add("--tmpfs", mount.target);
      case Mount::Kind::kProc:
        return add("--proc", mount.target);
      case Mount::Kind::kDev:
        return add("--dev", mount.target);
      case Mount::Kind::kDirectory:
        if (mount.mode != 0) add("--perms", octal(mount.mode));
        return add("--dir", mount.target);
      case Mount::Kind::kSymlink:
        return add("--symlink", mount.source, mount.target);
      case Mount::Kind::kReadOnly:
        return add("--ro-bind", mount.source, mount.target);
      case Mount::Kind::kReadWrite:
        return add("--bind", mount.source, mount.target);
      case Mount::Kind::kData:
        return add("--perms", "0444", "--ro-bind-data", data(mount.content), mount.target);
      case Mount::Kind::kFile:
        return add("--perms", "0444", "--file", data(mount.content), mount.target);
      case Mount::Kind::kRemountReadOnly:
        return add("--remount-ro", mount.target);
    }
  }

  BubblewrapArguments take() && { return std::move(out_); }

 private:
  int first_data_fd_;
  BubblewrapArguments out_;
};

struct KnownFailure {
  std::string_view words;
  std::string_view cause;
  std::string_view remedy;
};

constexpr std::string_view kAppArmorRemedy =
    "Allow them: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or give bubblewrap an AppArmor profile with "
    "`userns,`. `cofferdam doctor` examines the machine.";
constexpr std::string_view kNamespaceRemedy =
    "Allow them: `sysctl user.max_user_namespaces=15000` (and `kernel.unprivileged_userns_clone=1` on older Debian "
    "kernels); inside a container its security profile must allow them. `cofferdam doctor` examines the machine.";

constexpr KnownFailure kKnownFailures[] = {
    {"setting up uid map: Permission denied", "this system restricts user namespaces (AppArmor)", kAppArmorRemedy},
    {"RTM_NEWADDR: Operation not permitted", "this system restricts user namespaces (AppArmor)", kAppArmorRemedy},
    {"No permissions to create a new namespace", "this system does not let this user make namespaces",
     kNamespaceRemedy},
    {"No permissions to creating new namespace", "this system does not let this user make namespaces",
     kNamespaceRemedy},
    {"Creating new namespace failed: No space left", "the limit of user namespaces is reached", kNamespaceRemedy},
    {"Creating new namespace failed: Operation not permitted", "making a namespace is not permitted here",
     kNamespaceRemedy},
    {"Creating new namespace failed", "the namespaces of the sandbox cannot be made", kNamespaceRemedy},
    {"Can't mount proc", "a new /proc cannot be mounted here, as inside most containers",
     "Let the container show its whole /proc (for Docker: --security-opt systempaths=unconfined)."},
    {"Too many open files", "this process may open too few files",
     "Raise the limit: `ulimit -n 1024` (`ulimit -Hn` shows how far it goes)."},
    {"Unknown option", "this bubblewrap is too old; 0.8 or newer is needed", "Install a newer bubblewrap."},
};

// A source that the user of the run may not reach; root's own PATH holds such ones for a workspace of somebody else.
std::optional<Error> explain_unreachable_source(std::string_view said) {
  constexpr std::string_view kBefore = "Can't find source path ";
  constexpr std::string_view kAfter = ": Permission denied";
  const std::size_t begin = said.find(kBefore);
  const std::size_t end = said.rfind(kAfter);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  const std::string path(said.substr(begin + kBefore.size(), end - begin - kBefore.size()));
  return Error(ErrorCode::kPermissionDenied, "The user of the run may not reach " + path)
      .with_hint(
          "A run that root starts is the workspace owner's. Put what it needs where that user can read it (programs in "
          "/usr/local/bin), or take the path out of PATH or the policy; `cofferdam explain` says why it is wanted.");
}

}  // namespace

BubblewrapArguments bubblewrap_arguments(const ConfinementPlan& plan, const std::vector<std::string>& home_files,
                                         int first_data_fd) {
  ArgumentBuilder builder(first_data_fd);
  builder.add("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try");
  if (plan.network != NetworkScope::kOpen) builder.add("--unshare-net");
  builder.add("--uid", std::to_string(plan.identity.inside_uid), "--gid", std::to_string(plan.identity.inside_gid));
  builder.add("--hostname", "cofferdam", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--as-pid-1");
  for (const Mount& mount : plan.mounts) builder.add_mount(mount);
  for (std::size_t index = 0; index < plan.home_files.size(); ++index) {
    if (home_files[index].empty()) continue;
    builder.add("--perms", "0600", plan.home_files[index].covers ? "--bind-data" : "--file",
                builder.data(home_files[index]), plan.home_files[index].inside_path);
  }
  builder.add("--chdir", "/");
  return std::move(builder).take();
}

Error explain_bubblewrap_failure(std::string_view words) {
  const std::string said = printable(trimmed(words.substr(0, words.rfind('\n'))));
  if (auto unreachable = explain_unreachable_source(said)) return std::move(*unreachable);
  for (const KnownFailure& known : kKnownFailures) {
    if (words.find(known.words) == std::string_view::npos) continue;
    return Error(ErrorCode::kFailedPrecondition,
                 "The sandbox cannot be built: " + std::string(known.cause) + " (" + said + ")")
        .with_hint(std::string(known.remedy));
  }
  return Error(ErrorCode::kFailedPrecondition,
               "The sandbox cannot be built: " + (said.empty() ? std::string("bubblewrap ended without a word") : said))
      .with_hint("`cofferdam explain` shows each mount and why it is wanted; `cofferdam doctor` examines the machine.");
}

}  // namespace cofferdam::confinement
