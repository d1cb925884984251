#include "control/engine.h"

#include <unistd.h>

#include <cerrno>

#include "confinement/linux_host_view.h"

namespace cofferdam::control {

Error become_engine(char** arguments) {
  const auto engine = confinement::companion_program("cofferdam-engine");
  if (!engine) return engine.error();
  ::execv(engine->c_str(), arguments);
  return Error::from_errno(errno, "start " + *engine);
}

}  // namespace cofferdam::control
