#include "control/workspace_name.h"

#include "control/real_path.h"

namespace cofferdam::control {

Result<std::string> workspace_name(const std::string& directory) {
  ASSIGN_OR_RETURN(const std::string real, real_path(directory));
  return "path:" + real;
}

}  // namespace cofferdam::control
