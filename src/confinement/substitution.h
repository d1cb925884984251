// Running with a private copy in the place of a tree: inside, the copy lies where the tree lies.
#pragma once

#include <string>
#include <vector>

#include "confinement/host_view.h"
#include "confinement/plan.h"

namespace cofferdam::confinement {

// Both absolute and without links; `copy` stands for `original` and all below it.
struct Substitution {
  std::string original;
  std::string copy;
};

// `path`, moved from an original into its copy; itself when it lies in none.
std::string substituted(const std::string& path, const std::vector<Substitution>& substitutions);

// The host as if every copy lay in the place of its original. `host` must live as long.
class SubstitutedHostView final : public HostView {
 public:
  SubstitutedHostView(const HostView& host, std::vector<Substitution> substitutions)
      : host_(host), substitutions_(std::move(substitutions)) {}

  const HostFacts& facts() const override { return host_.facts(); }
  std::optional<PathFact> inspect(const std::string& path) const override { return host_.inspect(moved(path)); }
  std::optional<PathFact> follow(const std::string& path) const override { return host_.follow(resolved(path)); }
  std::optional<PathFact> inspect_without_links(const std::string& path) const override {
    return host_.inspect_without_links(moved(path));
  }
  std::optional<std::string> real_path(const std::string& path) const override;
  std::optional<std::string> read_link(const std::string& path) const override { return host_.read_link(moved(path)); }
  std::vector<std::string> list(const std::string& directory, std::size_t limit) const override {
    return host_.list(moved(directory), limit);
  }
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) const override {
    return host_.read_file(moved(path), limit);
  }
  std::optional<AccountFact> account(uid_t uid) const override { return host_.account(uid); }

 private:
  std::string moved(const std::string& path) const { return substituted(path, substitutions_); }
  // A path that may pass through links into an original.
  std::string resolved(const std::string& path) const;

  const HostView& host_;
  const std::vector<Substitution> substitutions_;
};

// The plan that was made with that view, with everything on the host's side in the copies.
void substitute(ConfinementPlan& plan, const std::vector<Substitution>& substitutions);

}  // namespace cofferdam::confinement
