#include "control/explain.h"

#include "confinement/linux_host_view.h"
#include "confinement/plan_text.h"
#include "confinement/planner.h"

namespace cofferdam::control {

Result<std::string> explain_local(const domain::Policy& policy, const std::vector<std::string>& command,
                                  ExplainFormat format) {
  ASSIGN_OR_RETURN(const confinement::LinuxHostView host, confinement::LinuxHostView::create());
  ASSIGN_OR_RETURN(const confinement::ConfinementPlan plan, confinement::make_plan(policy, command, host));
  return format == ExplainFormat::kJson ? confinement::plan_as_json(plan) : confinement::plan_as_text(plan);
}

}  // namespace cofferdam::control
