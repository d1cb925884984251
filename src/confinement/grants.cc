#include "confinement/grants.h"

#include "confinement/places.h"
#include "domain/path.h"
#include "domain/policy_resolve.h"

namespace cofferdam::confinement {
namespace {

using domain::Access;
using domain::is_inside;
using domain::is_never_granted;
using domain::PathGrant;
using Type = PathFact::Type;

Error never_granted(const PathGrant& grant, const std::string& path) {
  return Error(ErrorCode::kInvalidArgument, grant.origin + " cannot be " + path)
      .with_hint("Use --filesystem host to show the host's file system.");
}

}  // namespace

std::string Grants::in_workspace(const std::string& path) const {
  if (!is_inside(path, policy_.workspace)) return path;
  return workspace_ + path.substr(policy_.workspace == "/" ? 0 : policy_.workspace.size());
}

std::vector<std::string> Grants::writable_trees() const {
  std::vector<std::string> trees = {workspace_};
  for (const auto* grants : {&policy_.grants, &policy_.home_paths}) {
    for (const PathGrant& grant : *grants) {
      if (grant.access != Access::kReadWrite) continue;
      trees.push_back(in_workspace(grant.path));
      if (auto real = host_.real_path(trees.back()); real && *real != trees.back()) trees.push_back(std::move(*real));
    }
  }
  return trees;
}

std::optional<std::string> Grants::place_without_links(const std::string& path) const {
  for (const std::string& tree : writable_trees()) {
    if (is_inside(path, tree) && path != tree) return host_.real_path(tree).value_or(tree) + path.substr(tree.size());
  }
  return std::nullopt;
}

Error Grants::replaced(const std::string& path) {
  return {ErrorCode::kFailedPrecondition, path + " was replaced while the sandbox was being planned"};
}

Status Grants::check_no_planted_link(const std::string& path, const std::string& origin) const {
  for (const std::string& tree : writable_trees()) {
    if (!is_inside(path, tree) || path == tree) continue;
    std::string step = tree;
    for (const std::string_view part : domain::components(path.substr(tree.size()))) {
      step = domain::joined(step, part);
      const auto fact = host_.inspect(step);
      if (!fact || fact->type != Type::kSymlink) continue;
      return Error(ErrorCode::kPermissionDenied,
                   origin + ": " + path + " passes through the symbolic link " + step + ", which a run can replace")
          .with_hint("Name the real path.");
    }
  }
  return {};
}

Status Grants::add_all(const std::vector<PathGrant>& grants) {
  for (const PathGrant& grant : grants) RETURN_IF_ERROR(add(grant));
  return {};
}

Status Grants::add(const PathGrant& grant) {
  const std::string path = in_workspace(grant.path);
  if (is_never_granted(path)) return never_granted(grant, path);
  RETURN_IF_ERROR(check_no_planted_link(path, grant.origin));
  const auto real = host_.real_path(path);
  if (!real) {
    if (grant.optional) return {};
    return Error(ErrorCode::kNotFound, grant.origin + ": " + path + " does not exist")
        .with_hint("Create it first, or take it out of the policy.");
  }
  if (is_never_granted(*real)) return never_granted(grant, *real);
  if (const auto place = place_without_links(path); place && *place != *real) return replaced(path);
  Mount mount = bind_mount(path, grant.access, grant.origin);
  if (*real == path) return mounts_.add(std::move(mount));
  RETURN_IF_ERROR(check_no_planted_link(*real, grant.origin));
  mount.source = *real;
  other_names_.push_back(std::move(mount));
  return {};
}

Status Grants::add_other_names() {
  for (Mount& mount : other_names_) RETURN_IF_ERROR(mounts_.add_under_other_name(std::move(mount)));
  other_names_.clear();
  return {};
}

}  // namespace cofferdam::confinement
