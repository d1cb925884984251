// Places of the file system, whatever links lead to them.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace cofferdam::control {

// `path` without links. kNotFound when there is nothing there.
Result<std::string> real_path(const std::string& path);

// The path of `place` relative to `directory` when it lies below it (both resolved); nothing when it does not, or when
// one of them is not there.
std::optional<std::string> path_below(const std::string& place, const std::string& directory);

}  // namespace cofferdam::control
