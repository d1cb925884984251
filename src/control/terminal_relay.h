// Between the caller's terminal and the private one inside the sandbox.
#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "confinement/sandbox.h"
#include "system/terminal.h"

namespace cofferdam::control {

// Owned by a run; main thread only. Does nothing until attach() gives it the private terminal's master, and
// nothing at all when none of the caller's 0, 1 and 2 is a terminal. The caller's terminal has its own modes back
// after destruction.
class TerminalRelay {
 public:
  TerminalRelay();

  // What the sandbox must know to make its terminal.
  confinement::SandboxTerminal description() const;

  void attach(UniqueFd master);
  // Adds what it waits for; serve() looks at the same entries afterwards.
  void add_to(std::vector<pollfd>& watched);
  // Nothing tells a background job that its shell has brought it to the front; it must look. -1: no need to.
  int recheck_milliseconds() const { return in_background_ ? kRecheckMilliseconds : -1; }
  void serve(const std::vector<pollfd>& watched);
  // The caller's terminal changed its size.
  void resize() const;
  // Gives the caller's terminal back while the run is stopped, and takes it again.
  void suspend() { raw_.restore(); }
  void resume();
  // Copies what the command wrote last, for a bounded time.
  void drain();

 private:
  static constexpr int kRecheckMilliseconds = 200;

  bool copy_output();
  void copy_input();
  void flush_input();

  bool input_is_terminal_;
  std::uint32_t descriptors_;
  int output_;  // the caller's descriptor that shows the output; -1 without a terminal
  system::RawMode raw_;
  UniqueFd master_;
  std::string pending_;  // typed, not yet taken by the private terminal
  bool input_ended_ = false;
  bool in_background_ = false;
};

}  // namespace cofferdam::control
