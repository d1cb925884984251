// Reading a Git configuration file as Git does, without Git: the file may be hostile and must not be executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cofferdam::confinement {

struct GitConfigEntry {
  std::string section;  // lower case, without the subsection
  std::string key;      // lower case
  std::string value;    // unquoted; empty for a key without `=`, which Git takes for true
};

// In the order of the file. What follows a line that Git would refuse is read on as well as it can be: one entry too
// many protects one file more.
std::vector<GitConfigEntry> git_config_entries(std::string_view text);

// Every value of `section.key`, whatever the subsection.
std::vector<std::string> git_config_values(std::string_view text, std::string_view section, std::string_view key);

}  // namespace cofferdam::confinement
