// The plan for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "confinement/plan.h"

namespace cofferdam::confinement {

std::string_view to_string(PlannedLimit::Means means);
std::string_view to_string(Mount::Kind kind);

// A number without a fraction it does not have.
std::string number_text(double value);

// Several sections of aligned lines.
std::string plan_as_text(const ConfinementPlan& plan);

// One JSON object; docs/guide-local.md lists its members.
std::string plan_as_json(const ConfinementPlan& plan);

}  // namespace cofferdam::confinement
