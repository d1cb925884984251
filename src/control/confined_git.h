// The git program inside a sandbox of its own: no network, and of the machine only what one command names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/host_view.h"
#include "git/git_program.h"

namespace cofferdam::control {

// Everything that HardenedGit does, behind bubblewrap. git sees the system's programs, its repository, and the paths
// that the command names as readable or writable; one that is absent is left out. Thread-safe.
class ConfinedGit final : public git::GitProgram {
 public:
  // kFailedPrecondition when bubblewrap or git is missing, kPermissionDenied when bubblewrap is not the
  // administrator's.
  static Result<ConfinedGit> create(const confinement::HostView& host);

  // kFailedPrecondition when the sandbox cannot be built, with the cause and the remedy.
  Result<git::GitOutput> run(const git::GitCommand& command) override;

 private:
  ConfinedGit(std::string bubblewrap, std::string program, std::vector<std::string> system)
      : bubblewrap_(std::move(bubblewrap)), program_(std::move(program)), system_(std::move(system)) {}

  std::string bubblewrap_;
  std::string program_;
  std::vector<std::string> system_;  // bubblewrap's arguments that show the system's programs
};

// One for this machine.
Result<std::unique_ptr<git::GitProgram>> confined_git();

}  // namespace cofferdam::control
