// Starting a child and knowing, exactly and without races, how it ended.
//
// The launcher uses posix_spawn: safe in a process with threads, and the cost does not grow with the memory of
// the caller. The child gets only the descriptors that the request names; everything else is closed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace cofferdam::system {

struct SpawnRequest {
  std::string program;                   // absolute path; never looked up in PATH
  std::vector<std::string> arguments;    // argv, the program's name first
  std::vector<std::string> environment;  // NAME=VALUE; the caller's is not inherited
  // Descriptors of this process that the child gets, by their position: descriptors[n] becomes n.
  // -1 at 0, 1 or 2 means /dev/null; elsewhere it leaves the number closed.
  std::vector<int> descriptors = {-1, -1, -1};
  bool new_session = false;
  std::string working_directory;  // empty: the caller's
};

struct ExitStatus {
  bool signalled = false;
  int value = 0;  // exit code, or the signal's number
};

// Owns one running child. A child that is still owned at destruction is killed and reaped.
class ChildProcess {
 public:
  // Fails with the errno of the exec when the program cannot be started.
  static Result<ChildProcess> spawn(const SpawnRequest& request);

  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Readable when the child has ended.
  int pidfd() const { return pidfd_.get(); }
  void kill(int signal_number) const;
  // Blocks until the child has ended, then reaps it.
  Result<ExitStatus> wait();
  // Reaps the child if it has ended.
  Result<std::optional<ExitStatus>> try_wait();

 private:
  ChildProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Result<std::optional<ExitStatus>> reap(int options);

  pid_t pid_ = -1;  // -1 once reaped or moved from
  UniqueFd pidfd_;
};

}  // namespace cofferdam::system
