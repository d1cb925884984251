#include "confinement/places.h"

#include "base/ranges.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::is_inside;

constexpr std::string_view kNeverAWorkspace[] = {"/bin", "/home", "/lib", "/lib64", "/opt",
                                                 "/run", "/sbin", "/tmp", "/var",   "/root/.ssh"};
constexpr std::string_view kNothingBelowIsAWorkspace[] = {"/boot", "/dev", "/etc", "/proc", "/sys", "/usr"};
constexpr std::string_view kNeverAliased[] = {"/usr", "/bin",  "/sbin", "/lib", "/lib64",
                                              "/etc", "/proc", "/dev",  "/sys", "/run"};

Error unsafe_workspace(const std::string& path, const std::string& why) {
  return Error(ErrorCode::kInvalidArgument, "The workspace cannot be " + path + ": " + why)
      .with_hint("Name the project's own directory with --workspace.");
}

Error would_cover(const std::string& alias, std::string_view taken) {
  return Error(ErrorCode::kInvalidArgument,
               "An alias cannot be shown at " + alias + ": it would cover " + std::string(taken))
      .with_hint("Choose a path that nothing else uses, such as /app.");
}

}  // namespace

Status check_workspace_place(const std::string& workspace, const HomePlace& home) {
  if (workspace == "/") return unsafe_workspace(workspace, "that is the whole file system");
  if (contains(kNeverAWorkspace, workspace)) return unsafe_workspace(workspace, "that is a directory of the system");
  for (const std::string_view system : kNothingBelowIsAWorkspace) {
    if (is_inside(workspace, system)) return unsafe_workspace(workspace, "that is a directory of the system");
  }
  if (workspace == home.real_path || workspace == home.path) {
    if (home.may_be_workspace) return {};
    return unsafe_workspace(workspace, "that is the home directory; --allow-home allows it");
  }
  if (is_inside(home.real_path, workspace) || is_inside(home.path, workspace)) {
    return unsafe_workspace(workspace, "the home directory lies inside it");
  }
  return {};
}

Status check_alias_place(const std::string& alias, const std::string& workspace, const std::string& home) {
  for (const std::string_view system : kNeverAliased) {
    if (is_inside(alias, system) || is_inside(system, alias)) return would_cover(alias, system);
  }
  if (is_inside(workspace, alias) || is_inside(alias, workspace)) return would_cover(alias, workspace);
  if (is_inside(home, alias)) return would_cover(alias, home);
  return {};
}

bool hidden_by_host_scope(domain::FilesystemScope scope, std::string_view path) {
  if (scope != domain::FilesystemScope::kHost) return false;
  return is_inside(path, "/tmp") || is_inside(path, "/run") || is_inside(path, "/var/tmp");
}

}  // namespace cofferdam::confinement
