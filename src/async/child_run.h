// A child process whose input and output are the business of coroutines.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "system/child_process.h"

namespace cofferdam::async {

// What a child reads and writes. Each function is awaited before the same one is called again; output() of the two
// descriptors and input() may run beside each other.
class ChildIo {
 public:
  virtual ~ChildIo() = default;
  virtual Task<void> started() = 0;
  // Bytes from descriptor 1 or 2. No more are read until this returns. An error ends the child as if it was cancelled.
  virtual Task<Status> output(int descriptor, std::string bytes) = 0;
  // At most `most` bytes; empty at the end. Asked only when the child has input.
  virtual Task<Result<std::string>> input(std::size_t most) = 0;
  // Sends a signal to every process that the child's work consists of.
  virtual void signal_tree(int number) = 0;
};

struct ChildOptions {
  bool has_input = false;  // otherwise /dev/null
  std::optional<Clock::duration> timeout;
  Clock::duration grace = std::chrono::milliseconds(250);  // between SIGTERM and SIGKILL
};

struct ChildEnd {
  system::ExitStatus status;
  bool timed_out = false;
  bool cancelled = false;
  // Our ends of pipes into which something that the child left behind may still write. Closing them breaks its pipes.
  std::vector<UniqueFd> still_held;
};

// Starts a child, with descriptors 0, 1 and 2 of ours, and follows it to its end. What it wrote before its end has been
// passed on when this returns; what others write later has not. A caller that is cancelled gets its answer
// when the tree has been ended. The error is of the start. The process must ignore SIGPIPE.
Task<Result<ChildEnd>> run_child(system::SpawnRequest request, ChildOptions options, ChildIo& io);

}  // namespace cofferdam::async
