#include "control/path_below.h"

#include <limits.h>
#include <stdlib.h>

namespace cofferdam::control {

std::optional<std::string> path_below(const std::string& place, const std::string& directory) {
  char real_place[PATH_MAX];
  char real_directory[PATH_MAX];
  if (::realpath(place.c_str(), real_place) == nullptr) return std::nullopt;
  if (::realpath(directory.c_str(), real_directory) == nullptr) return std::nullopt;
  std::string above = real_directory;
  if (!above.ends_with('/')) above += '/';
  const std::string below = real_place;
  if (!below.starts_with(above)) return std::nullopt;
  return below.substr(above.size());
}

}  // namespace cofferdam::control
