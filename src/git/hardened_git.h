// The git program started so that neither the caller's surroundings nor the repository decide what it executes.
//
// What this cannot do alone: a repository's configuration names filters and drivers, whose keys nobody can override
// without knowing them, and `include.path` reads any file. Therefore the operations of this folder never show git a
// configuration that they did not write (repository_view.h), and untrusted content is read under ConfinedGit.
#pragma once

#include <string>
#include <vector>

#include "git/git_program.h"

namespace cofferdam::git {

inline constexpr std::size_t kGitErrorBytes = std::size_t{64} << 10;

// Arguments of git, from its own -c settings to the command's; without the program.
std::vector<std::string> hardened_arguments(const GitCommand& command);

// The whole environment: fixed, and what the command adds. Nothing of the caller's.
std::vector<std::string> hardened_environment(const GitCommand& command);

// Where git was installed by the administrator; never looked up in PATH. kFailedPrecondition when it is missing.
Result<std::string> find_git();

// Runs `launcher` (argv that ends with the git program, which other programs may come before) on the command.
Result<GitOutput> run_hardened(std::vector<std::string> launcher, const GitCommand& command);

class HardenedGit final : public GitProgram {
 public:
  // `program`: absolute path, as find_git() gives it.
  explicit HardenedGit(std::string program) : program_(std::move(program)) {}
  Result<GitOutput> run(const GitCommand& command) override { return run_hardened({program_}, command); }

 private:
  std::string program_;
};

}  // namespace cofferdam::git
