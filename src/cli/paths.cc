#include "cli/paths.h"

#include <limits.h>
#include <unistd.h>

#include <cerrno>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/path.h"

namespace cofferdam::cli {

Result<std::string> absolute_path(std::string_view written) {
  std::string path(written);
  if (path.empty()) return Error(ErrorCode::kInvalidArgument, "an empty path names nothing");
  if (!path.starts_with('/')) {
    char here[PATH_MAX];
    if (::getcwd(here, sizeof here) == nullptr) return Error::from_errno(errno, "find the current directory");
    path = std::string(here) + "/" + path;
  }
  const auto normal = domain::normalized_absolute(path);
  if (!normal) return Error(ErrorCode::kInvalidArgument, "\"" + printable(written) + "\" is no path");
  return *normal;
}

bool contains_parent_step(std::string_view path) {
  return contains(split(path, '/'), "..");
}

}  // namespace cofferdam::cli
