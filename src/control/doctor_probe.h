// Short confined runs by which the doctor knows rather than guesses.
#pragma once

#include <string>
#include <string_view>

namespace cofferdam::control {

struct ProbeResult {
  bool worked = false;
  std::string error;
  std::string hint;
};

// `true` in an empty workspace, with everything a run has.
ProbeResult probe_confined_run();
// The same with the proxy's listener: needs loopback inside.
ProbeResult probe_loopback();

// First line that `program --version` prints.
std::string program_version(const std::string& program);
// "bubblewrap 0.8.0" or newer; an unknown form counts as new.
bool is_new_enough_bubblewrap(std::string_view version);

}  // namespace cofferdam::control
