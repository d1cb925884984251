#include "system/state_dir.h"

#include <stdlib.h>

namespace cofferdam::system {
namespace {

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::string> state_directory() {
  if (std::string own = variable("COFFERDAM_STATE_DIR"); own.starts_with('/')) return own;
  if (std::string state = variable("XDG_STATE_HOME"); state.starts_with('/')) return state + "/cofferdam";
  if (std::string home = variable("HOME"); home.starts_with('/')) return home + "/.local/state/cofferdam";
  return Error(ErrorCode::kFailedPrecondition, "no directory for Cofferdam's state: HOME is not set")
      .with_hint("Set COFFERDAM_STATE_DIR to an absolute path.");
}

}  // namespace cofferdam::system
