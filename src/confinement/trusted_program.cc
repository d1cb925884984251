#include "confinement/trusted_program.h"

#include <sys/stat.h>

#include <array>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

constexpr std::array<std::string_view, 6> kSystemDirectories = {
    "/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/usr/libexec", "/run/current-system/sw/bin"};

// What the kernel shows for owners that a user namespace does not map.
constexpr uid_t kOverflowUid = 65534;

Error missing(const std::string& name) {
  return Error(ErrorCode::kFailedPrecondition,
               "Local process confinement requires Bubblewrap, but \"" + name +
                   "\" was not found in PATH. Install bwrap or configure filesystemSandboxCommand.")
      .with_hint(
          "On Debian and Ubuntu: apt-get install bubblewrap. It is looked up in the system's own directories "
          "only; --bubblewrap names another absolute path.");
}

Error untrusted(const std::string& path, const std::string& why) {
  return Error(ErrorCode::kPermissionDenied, "Bubblewrap at " + path + " is not trusted: " + why)
      .with_hint("Use the one of the distribution, or one that belongs to root in a directory that belongs to root.");
}

Status check_ownership(const HostView& host, const std::string& path) {
  for (std::string step = path;; step = domain::parent_of(step)) {
    const auto fact = host.inspect(step);
    if (!fact) return untrusted(path, step + " cannot be examined");
    if (fact->uid == kOverflowUid) {
      return untrusted(path, "this user namespace does not map root, so nobody can tell whose " + step + " is");
    }
    if (fact->uid != 0) return untrusted(path, step + " does not belong to root");
    const bool sticky_directory = fact->type == PathFact::Type::kDirectory && (fact->mode & S_ISVTX) != 0;
    if ((fact->mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky_directory) {
      return untrusted(path, "others than root may write " + step);
    }
    if (step == "/") return {};
  }
}

std::optional<std::string> look_up(const HostView& host, const std::string& name) {
  for (const std::string_view directory : kSystemDirectories) {
    const std::string candidate = domain::joined(directory, name);
    if (host.follow(candidate)) return host.real_path(candidate);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> find_bubblewrap(const HostView& host, const std::string& configured,
                                    const std::vector<std::string>& writable_trees) {
  const std::string name = trimmed(configured).empty() ? "bwrap" : std::string(trimmed(configured));
  const bool has_slash = name.find('/') != std::string::npos;
  if (has_slash && !name.starts_with('/')) return untrusted(name, "a relative path could be planted by the run");
  const auto path = has_slash ? host.real_path(name) : look_up(host, name);
  if (!path) return missing(name);
  for (const std::string& tree : writable_trees) {
    if (domain::is_inside(*path, tree)) return untrusted(*path, "the run may write " + tree);
  }
  RETURN_IF_ERROR(check_ownership(host, *path));
  return *path;
}

}  // namespace cofferdam::confinement
