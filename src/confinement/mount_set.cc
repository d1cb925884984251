#include "confinement/mount_set.h"

#include <algorithm>

#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

bool same_effect(const Mount& left, const Mount& right) {
  return left.kind == right.kind && left.source == right.source && left.content == right.content;
}

// What makes something at `target`, as opposed to a change of what is there.
template <class Mounts>
auto find_at(Mounts& mounts, const std::string& target) {
  return std::ranges::find_if(mounts, [&](const Mount& mount) {
    return mount.target == target && mount.kind != Mount::Kind::kRemountReadOnly;
  });
}

}  // namespace

Status MountSet::add(Mount mount) {
  const auto found = find_at(mounts_, mount.target);
  if (found == mounts_.end() || mount.kind == Mount::Kind::kRemountReadOnly) {
    mounts_.push_back(std::move(mount));
    return {};
  }
  if (same_effect(*found, mount)) return {};
  return Error(ErrorCode::kInvalidArgument, "Two different things are wanted at " + mount.target + ": " +
                                                found->reason + ", and " + mount.reason)
      .with_hint("Remove one of the two.");
}

void MountSet::add_unless_present(Mount mount) {
  if (find_at(mounts_, mount.target) == mounts_.end()) mounts_.push_back(std::move(mount));
}

Status MountSet::add_under_other_name(Mount mount) {
  const std::string tree = mount.source;
  const Mount* around = covering(tree);
  if (around != nullptr && around->kind == Mount::Kind::kReadOnly && around->guards) {
    mount.kind = Mount::Kind::kReadOnly;
    mount.reason += "; protected under every name";
  }
  std::vector<Mount> copies;
  for (const Mount& inner : mounts_) {
    const bool own_place = !is_bind(inner) || inner.source == inner.target;
    if (!own_place || inner.target == tree || !domain::is_inside(inner.target, tree)) continue;
    Mount copy = inner;
    copy.target = mount.target + inner.target.substr(tree.size());
    if (mount.kind == Mount::Kind::kReadOnly && copy.kind == Mount::Kind::kReadWrite) continue;
    copies.push_back(std::move(copy));
  }
  RETURN_IF_ERROR(add(std::move(mount)));
  for (Mount& copy : copies) RETURN_IF_ERROR(add(std::move(copy)));
  return {};
}

const Mount* MountSet::covering(const std::string& path) const {
  const Mount* deepest = nullptr;
  for (const Mount& mount : mounts_) {
    if (!domain::is_inside(path, mount.target) || mount.kind == Mount::Kind::kRemountReadOnly) continue;
    if (deepest == nullptr || mount.target.size() >= deepest->target.size()) deepest = &mount;
  }
  return deepest;
}

bool MountSet::shows(const std::string& path) const {
  const Mount* mount = covering(path);
  return mount != nullptr && is_bind(*mount) && mount->source == mount->target;
}

std::vector<Mount> MountSet::in_order() && {
  // One bucket for each depth, the remounts in the last: equal depths keep the order in which they were added.
  std::vector<std::vector<Mount>> buckets;
  const auto depth_of = [](const Mount& mount) {
    return mount.target == "/" ? std::size_t{0} : static_cast<std::size_t>(std::ranges::count(mount.target, '/'));
  };
  std::size_t deepest = 0;
  for (const Mount& mount : mounts_) deepest = std::max(deepest, depth_of(mount));
  buckets.resize(deepest + 2);
  for (Mount& mount : mounts_) {
    const bool last = mount.kind == Mount::Kind::kRemountReadOnly;
    buckets[last ? deepest + 1 : depth_of(mount)].push_back(std::move(mount));
  }
  std::vector<Mount> ordered;
  ordered.reserve(mounts_.size());
  for (std::vector<Mount>& bucket : buckets) std::ranges::move(bucket, std::back_inserter(ordered));
  return ordered;
}

Mount bind_mount(std::string path, domain::Access access, std::string reason) {
  Mount mount;
  mount.kind = access == domain::Access::kReadOnly ? Mount::Kind::kReadOnly : Mount::Kind::kReadWrite;
  mount.source = path;
  mount.target = std::move(path);
  mount.reason = std::move(reason);
  return mount;
}

Mount directory_mount(std::string target, std::string reason) {
  Mount mount;
  mount.kind = Mount::Kind::kDirectory;
  mount.target = std::move(target);
  mount.reason = std::move(reason);
  return mount;
}

Mount tmpfs_mount(std::string target, std::uint64_t size_bytes, std::string reason) {
  Mount mount;
  mount.kind = Mount::Kind::kTmpfs;
  mount.target = std::move(target);
  mount.size_bytes = size_bytes;
  mount.reason = std::move(reason);
  return mount;
}

Mount data_mount(std::string target, std::string content, std::string reason) {
  Mount mount;
  mount.kind = Mount::Kind::kData;
  mount.target = std::move(target);
  mount.content = std::move(content);
  mount.reason = std::move(reason);
  return mount;
}

Mount file_mount(std::string target, std::string content, std::string reason) {
  Mount mount = data_mount(std::move(target), std::move(content), std::move(reason));
  mount.kind = Mount::Kind::kFile;
  return mount;
}

bool is_bind(const Mount& mount) {
  return mount.kind == Mount::Kind::kReadOnly || mount.kind == Mount::Kind::kReadWrite;
}

}  // namespace cofferdam::confinement
