// One running sandbox: bubblewrap, cofferdam-init inside it, and the command.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confinement/cgroup.h"
#include "confinement/init_protocol.h"
#include "confinement/plan.h"
#include "system/child_process.h"

namespace cofferdam::confinement {

struct SandboxDescriptors {
  int input = 0;  // become the command's 0, 1 and 2; not owned
  int output = 1;
  int error = 2;
  int egress = -1;  // our end of the egress proxy's channel for init; -1 without a proxy; not owned
};

struct SandboxTerminal {
  std::uint32_t descriptors = 0;  // bit n: descriptor n is a terminal and is replaced by the private one
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
  std::string modes;  // struct termios of the caller's terminal
};

struct SandboxEvent {
  init::Event kind = init::Event::kSetupFailed;
  int value = 0;
  bool signalled = false;
  std::string text;
  UniqueFd descriptor;  // kTerminal, kFile
};

// Owned by the run that started it, used from one thread (the main one: the sandbox dies with it). Destruction
// ends everything inside at once.
class Sandbox {
 public:
  // `home_files` are the contents of plan.home_files, in order. `cgroup` may be null.
  static Result<Sandbox> start(const ConfinementPlan& plan, const std::vector<std::string>& home_files,
                               const SandboxDescriptors& descriptors, const SandboxTerminal& terminal,
                               const Cgroup* cgroup);

  // Readable when an event waits or the sandbox has gone.
  int event_fd() const { return control_.get(); }
  // The next event; nothing when the sandbox has gone.
  Result<std::optional<SandboxEvent>> next_event();

  void signal(int number) const { request(init::Request::kSignal, number); }
  void resume() const { request(init::Request::kContinue, 0); }
  void kill_all() const { request(init::Request::kKill, 0); }
  // Without asking init.
  void kill_hard() const { bubblewrap_.kill(SIGKILL); }

  // Why there was no event at all: bubblewrap's words, explained. Waits for bubblewrap to end.
  Error failure();

 private:
  Sandbox(system::ChildProcess bubblewrap, UniqueFd control, UniqueFd error, std::vector<UniqueFd> pinned)
      : bubblewrap_(std::move(bubblewrap)),
        control_(std::move(control)),
        error_(std::move(error)),
        pinned_(std::move(pinned)) {}
  void request(init::Request kind, int value) const;

  system::ChildProcess bubblewrap_;
  UniqueFd control_;
  UniqueFd error_;
  std::vector<UniqueFd> pinned_;  // what is bound from untrusted trees: an open file's inode is not used again
};

}  // namespace cofferdam::confinement
