// The text of a Git configuration file as data. Includes are settings like any other here; nothing is ever opened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cofferdam::git {

struct ConfigSetting {
  std::string section;          // lower case
  std::string subsection;       // bytes as written
  bool has_subsection = false;  // [section ""] has one, which is empty
  std::string key;              // lower case
  std::string value;            // unquoted
  bool has_value = true;        // false for a key without "=", which Git takes for true

  bool is(std::string_view wanted_section, std::string_view wanted_key) const {
    return section == wanted_section && !has_subsection && key == wanted_key;
  }
  // section.subsection.key, as `git config --list` names it.
  std::string name() const;

  bool operator==(const ConfigSetting&) const = default;
};

struct ConfigBounds {
  std::size_t bytes = std::size_t{1} << 20;  // of the whole text
  std::size_t settings = 10'000;
};

// In the order of the file. kInvalidArgument, with the line, for what Git refuses too; kResourceExhausted beyond a
// bound.
Result<std::vector<ConfigSetting>> parse_config(std::string_view text, const ConfigBounds& bounds = {});

// The last value of section.key without a subsection; nullptr when it is not set.
const std::string* config_value(const std::vector<ConfigSetting>& settings, std::string_view section,
                                std::string_view key);

// Text that parse_config and Git read as these settings. Values may hold any byte but NUL, subsections neither NUL nor
// line break: what parse_config gave is fine.
std::string render_config(const std::vector<ConfigSetting>& settings);

}  // namespace cofferdam::git
