#include "confinement/plan.h"

#include <algorithm>

namespace cofferdam::confinement {

std::optional<double> limit_value(const ConfinementPlan& plan, std::string_view name) {
  for (const PlannedLimit& limit : plan.limits) {
    if (limit.name == name && limit.means != PlannedLimit::Means::kNone) return limit.value;
  }
  return std::nullopt;
}

bool has_placeholder(const ConfinementPlan& plan, std::string_view path) {
  return std::ranges::any_of(plan.placeholders,
                             [&](const Placeholder& placeholder) { return placeholder.path == path; });
}

}  // namespace cofferdam::confinement
