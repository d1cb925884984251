// Whether one place of the file system lies in another, whatever links lead to them.
#pragma once

#include <optional>
#include <string>

namespace cofferdam::control {

// The path of `place` relative to `directory` when it lies below it (both resolved); nothing when it does not, or when
// one of them is not there.
std::optional<std::string> path_below(const std::string& place, const std::string& directory);

}  // namespace cofferdam::control
