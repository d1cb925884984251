#include "confinement/substitution.h"

#include "confinement/mount_set.h"
#include "domain/path.h"

namespace cofferdam::confinement {

std::string substituted(const std::string& path, const std::vector<Substitution>& substitutions) {
  // The deepest original decides: one may lie inside another.
  const Substitution* best = nullptr;
  for (const Substitution& each : substitutions) {
    if (!domain::is_inside(path, each.original)) continue;
    if (best == nullptr || each.original.size() > best->original.size()) best = &each;
  }
  return best == nullptr ? path : best->copy + path.substr(best->original.size());
}

std::string SubstitutedHostView::resolved(const std::string& path) const {
  if (const std::string direct = moved(path); direct != path) return direct;
  const auto real = host_.real_path(path);
  return real ? moved(*real) : path;
}

std::optional<std::string> SubstitutedHostView::real_path(const std::string& path) const {
  const auto real = host_.real_path(resolved(path));
  if (!real) return real;
  for (const Substitution& each : substitutions_) {
    if (domain::is_inside(*real, each.copy)) return each.original + real->substr(each.copy.size());
  }
  return real;
}

void substitute(ConfinementPlan& plan, const std::vector<Substitution>& substitutions) {
  for (Mount& mount : plan.mounts) {
    if (is_bind(mount)) mount.source = substituted(mount.source, substitutions);
  }
  for (Placeholder& placeholder : plan.placeholders) {
    placeholder.path = substituted(placeholder.path, substitutions);
  }
  for (std::string& path : plan.kept_absent) path = substituted(path, substitutions);
  plan.git_config_lock = substituted(plan.git_config_lock, substitutions);
}

}  // namespace cofferdam::confinement
