#include "system/state_dir.h"

#include <cstdlib>

namespace cofferdam::system {

Result<std::string> state_directory() {
  if (const char* own = std::getenv("COFFERDAM_STATE_DIR"); own != nullptr && *own == '/') return std::string(own);
  if (const char* base = std::getenv("XDG_STATE_HOME"); base != nullptr && *base == '/') {
    return std::string(base) + "/cofferdam";
  }
  std::string home;
  if (const char* variable = std::getenv("HOME"); variable != nullptr && *variable == '/') home = variable;
  if (home.empty()) {
    return Error(ErrorCode::kFailedPrecondition, "there is no place for state: HOME is not set")
        .with_hint("Set COFFERDAM_STATE_DIR to an absolute path.");
  }
  return home + "/.local/state/cofferdam";
}

}  // namespace cofferdam::system
