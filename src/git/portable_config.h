// Which settings of a repository may travel: an allowlist. Everything else can name a program to run, a file to read or
// a place on another machine, and new Git versions add such keys.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "git/config_file.h"

namespace cofferdam::git {

struct RefspecBudget {
  std::size_t count = 1'000;  // of a whole configuration
  std::size_t bytes = 4'096;  // of one refspec
};

struct ConfigRefusal {
  std::string name;    // as git config --list names it, safe to print
  std::string reason;  // "can run a program"
  bool operator==(const ConfigRefusal&) const = default;
};

// The settings that keep a configuration from being portable, in its order; empty when all of it may travel.
std::vector<ConfigRefusal> nonportable_settings(const std::vector<ConfigSetting>& settings,
                                                const RefspecBudget& budget = {});

// What may travel of a configuration: settings on the list with acceptable values, remote addresses without their
// secrets. A remote whose address may not travel is left out with all its settings.
std::vector<ConfigSetting> portable_settings(const std::vector<ConfigSetting>& settings,
                                             const RefspecBudget& budget = {});

}  // namespace cofferdam::git
