// Which host paths a policy opens, and the places of the plan where they are mounted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"
#include "confinement/mount_set.h"
#include "domain/policy.h"

namespace cofferdam::confinement {

// Adds grants to a mount set. One plan's, used by the steps of its planning; refers to what it is given.
class Grants {
 public:
  // `workspace`: its real path, which stands for the one that the policy names.
  Grants(const domain::Policy& policy, const HostView& host, const std::string& workspace, MountSet& mounts)
      : policy_(policy), host_(host), workspace_(workspace), mounts_(mounts) {}

  Status add(const domain::PathGrant& grant);
  Status add_all(const std::vector<domain::PathGrant>& grants);

  // Grants by a name that leads through links, and aliases: kept until all the places are known whose parts they show.
  void keep_other_name(Mount mount) { other_names_.push_back(std::move(mount)); }
  Status add_other_names();

  // A path of the policy, with the workspace's name replaced by its real path.
  std::string in_workspace(const std::string& path) const;
  // Trees that some confined command may have written: nothing in them is followed through links.
  std::vector<std::string> writable_trees() const;
  // Where `path` lies when it is below a writable tree and no link in that tree leads elsewhere.
  std::optional<std::string> place_without_links(const std::string& path) const;
  // Error when a component of `path` below a writable tree is a symbolic link.
  Status check_no_planted_link(const std::string& path, const std::string& origin) const;
  static Error replaced(const std::string& path);

 private:
  const domain::Policy& policy_;
  const HostView& host_;
  const std::string& workspace_;
  MountSet& mounts_;
  std::vector<Mount> other_names_;
};

}  // namespace cofferdam::confinement
