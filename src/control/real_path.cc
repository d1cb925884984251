#include "control/real_path.h"

#include <stdlib.h>

#include <cerrno>
#include <memory>

#include "base/strings.h"

namespace cofferdam::control {

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (resolved == nullptr) return Error::from_errno(errno, "find " + printable(path));
  return std::string(resolved.get());
}

std::optional<std::string> path_below(const std::string& place, const std::string& directory) {
  const auto below = real_path(place);
  const auto above = real_path(directory);
  if (!below || !above) return std::nullopt;
  const std::string start = above->ends_with('/') ? *above : *above + "/";
  if (!below->starts_with(start)) return std::nullopt;
  return below->substr(start.size());
}

}  // namespace cofferdam::control
