// Collects mounts in any order and gives them back in the one order that nests right: shallow before deep.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

class MountSet {
 public:
  // The same thing twice at one target is one mount; two different things are an error that names both reasons.
  Status add(Mount mount);
  // The same, but what is there already wins: for the host's own layout, which a grant may replace.
  void add_unless_present(Mount mount);

  // A bind that shows a tree under another name than its own: what lies on other mounts within that tree lies there
  // under the other name, too, and what is kept from the command stays read-only.
  Status add_under_other_name(Mount mount);

  // The deepest mount that `path` lies on; null when there is none.
  const Mount* covering(const std::string& path) const;
  // True when a bind of the host's files makes `path` visible inside.
  bool shows(const std::string& path) const;

  const std::vector<Mount>& all() const { return mounts_; }

  // All mounts, shallow to deep, remounts last.
  std::vector<Mount> in_order() &&;

 private:
  std::vector<Mount> mounts_;
};

// Constructors for the usual kinds.
Mount bind_mount(std::string path, domain::Access access, std::string reason);
Mount directory_mount(std::string target, std::string reason);
Mount tmpfs_mount(std::string target, std::uint64_t size_bytes, std::string reason);
Mount file_mount(std::string target, std::string content, std::string reason);
Mount data_mount(std::string target, std::string content, std::string reason);

bool is_bind(const Mount& mount);

}  // namespace cofferdam::confinement
