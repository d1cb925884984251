// Paths as they are written on a command line.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cofferdam::cli {

// Relative to the current directory, without "." and doubled slashes. What it names need not exist.
Result<std::string> absolute_path(std::string_view written);

// Whether one of its names is "..".
bool contains_parent_step(std::string_view path);

}  // namespace cofferdam::cli
