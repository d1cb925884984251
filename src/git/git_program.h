// Running the git program on repositories that somebody else may have prepared.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace cofferdam::git {

struct GitCommand {
  std::string repository;              // absolute; the working directory and the only safe.directory
  std::vector<std::string> arguments;  // after "git" and our own -c settings
  std::string input;                   // what standard input holds
  int input_file = -1;                 // instead of `input`: an open file, read from its present position on
  std::vector<std::string> readable;   // further absolute paths that this command must read
  std::vector<std::string> writable;   // further absolute paths that this command must write
  bool writes_repository = false;
  std::vector<std::string> environment;  // NAME=VALUE: GIT_INDEX_FILE and identities; nothing else is inherited
  std::chrono::milliseconds timeout{60'000};
  std::size_t output_limit = std::size_t{64} << 20;  // bytes of standard output; beyond it the command is ended
};

struct GitOutput {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string standard_output;
  std::string standard_error;  // at most 64 KiB
};

// Starts git so that nothing the repository says is executed and nothing of the caller leaks into it. Thread-safe.
// Errors are of starting and of bounds (kTimedOut, kResourceExhausted); git's own failure is its exit code.
class GitProgram {
 public:
  virtual ~GitProgram() = default;
  virtual Result<GitOutput> run(const GitCommand& command) = 0;
};

// The output of a command that must succeed: an exit code other than 0 is an error with git's own words.
Result<std::string> run_successfully(GitProgram& git, const GitCommand& command);

// What git said before it gave up, as an error: "git <verb> failed: <words>".
Error git_failure(const GitCommand& command, const GitOutput& output);

}  // namespace cofferdam::git
