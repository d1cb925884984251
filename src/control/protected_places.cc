#include "control/protected_places.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "confinement/mount_set.h"
#include "domain/path.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

using confinement::ConfinementPlan;
using confinement::FileIdentity;
using confinement::Mount;
using system::open_without_links;

std::optional<FileIdentity> identity_of(const UniqueFd& file) {
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

// Empty when it is not there, cannot be read or is being removed.
UniqueFd locked(const std::string& path, int flags) {
  UniqueFd file = open_without_links(path, flags);
  if (file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0) file.reset();
  return file;
}

}  // namespace

Result<ProtectedPlaces> ProtectedPlaces::hold(ConfinementPlan& plan) {
  ProtectedPlaces places;
  for (const confinement::Placeholder& placeholder : plan.placeholders) {
    RETURN_IF_ERROR(places.hold_placeholder(placeholder.path, plan));
  }
  for (const Mount& mount : plan.mounts) places.hold_mount(mount, plan.workspace);
  for (const Mount& mount : plan.mounts) places.watch(mount);
  return places;
}

Status ProtectedPlaces::hold_placeholder(const std::string& path, ConfinementPlan& plan) {
  if (files_.contains(path)) return {};
  UniqueFd file = open_without_links(path, O_RDONLY | O_NONBLOCK);
  if (!file && errno == EACCES) return {};  // not readable for this user, so nobody of this user removes it either
  if (!file) return Error::from_errno(errno, "open the protected " + path);
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return {};
  for (Mount& mount : plan.mounts) {
    if (confinement::is_bind(mount) && mount.source == path && !mount.identity) mount.identity = identity_of(file);
  }
  files_.emplace(path, std::move(file));
  return {};
}

// What looks like the user's own may be a placeholder of a run that keeps its state elsewhere; so may a directory that
// is empty because its run has not begun.
void ProtectedPlaces::hold_mount(const Mount& mount, const std::string& workspace) {
  const bool closed = mount.kind == Mount::Kind::kReadOnly && domain::is_inside(mount.target, workspace);
  const bool open = mount.kind == Mount::Kind::kReadWrite && mount.target != "/";
  if ((!closed && !open) || files_.contains(mount.source)) return;
  UniqueFd file = locked(mount.source, O_RDONLY | (open ? O_DIRECTORY : O_NONBLOCK));
  if (file) files_.emplace(mount.source, std::move(file));
}

void ProtectedPlaces::watch(const Mount& mount) {
  if (!mount.guards) return;
  const std::string& path = confinement::is_bind(mount) ? mount.source : mount.target;
  if (!files_.contains(path)) {
    UniqueFd file = open_without_links(path, O_PATH);
    if (!file) return;
    files_.emplace(path, std::move(file));
  }
  watched_.insert(path);
}

std::vector<std::string> ProtectedPlaces::replaced() const {
  std::vector<std::string> out;
  for (const std::string& path : watched_) {
    const auto held_back = [&](const std::string& outer) { return domain::is_inside(path, outer); };
    if (std::ranges::any_of(out, held_back)) continue;
    const UniqueFd now = open_without_links(path, O_PATH);
    const bool unknown = !now && errno == EACCES;
    if (!unknown && identity_of(now) != identity_of(files_.at(path))) out.push_back(path);
  }
  return out;
}

}  // namespace cofferdam::control
