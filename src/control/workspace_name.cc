#include "control/workspace_name.h"

#include <limits.h>
#include <stdlib.h>

#include <cerrno>

#include "base/strings.h"

namespace cofferdam::control {

Result<std::string> workspace_name(const std::string& directory) {
  char real[PATH_MAX];
  if (::realpath(directory.c_str(), real) == nullptr) {
    return Error::from_errno(errno, "find " + printable(directory));
  }
  return "path:" + std::string(real);
}

}  // namespace cofferdam::control
