// Running a program to its end with bounds on time and output.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace cofferdam::git {

struct BoundedProcess {
  std::vector<std::string> command;      // argv; the first word is the absolute path of the program
  std::vector<std::string> environment;  // NAME=VALUE; the caller's is not inherited
  std::string working_directory;
  int standard_input = -1;  // -1: /dev/null. A file, so that nobody has to feed it while reading the answers.
  std::chrono::milliseconds timeout{60'000};
  std::size_t output_limit = 0;  // bytes of standard output
  std::size_t error_limit = 0;   // bytes of standard error that are kept; the rest is read and dropped
};

struct ProcessOutput {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string standard_output;
  std::string standard_error;
};

// Blocks until the program has ended. It runs in a session of its own; what it leaves behind there is killed. Beyond
// the time (kTimedOut) or the output (kResourceExhausted) its group gets TERM, and KILL a quarter of a second later.
// Thread-safe.
Result<ProcessOutput> run_bounded(const BoundedProcess& process);

}  // namespace cofferdam::git
