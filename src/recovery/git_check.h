// The repositories of a copy: refused when they are not portable, then proven whole with git.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/config_file.h"
#include "git/git_program.h"
#include "recovery/deadline.h"
#include "recovery/plan.h"

namespace cofferdam::recovery {

// A configuration as data: budgets first, then the list of what may travel. Pure. `where` is what errors call it.
Status check_config(const std::vector<git::ConfigSetting>& settings, const CaptureLimits& limits,
                    const std::string& where);

// Every configuration is judged before git is started for the first repository. git then reads each in a view of ours,
// with settings of ours (git/repository_view.h), and must find everything that its references and its index name.
// `tree`: the copy; `repositories`: as in CapturePlan.
Status check_repositories(const std::string& tree, const std::vector<std::string>& repositories, git::GitProgram& git,
                          const std::string& scratch, const CaptureLimits& limits, const SharedDeadline& deadline);

}  // namespace cofferdam::recovery
