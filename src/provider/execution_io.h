// What an execution reads and writes, seen from the provider that carries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "base/result.h"

namespace cofferdam::provider {

enum class Stream : std::uint8_t { kStdout, kStderr };  // a terminal has kStdout only

// Given to execute() and attach() by their caller, who keeps it alive until they have returned. One loop's thread. Each
// function is awaited before the same one is called again; output() and input() may run beside each other.
class ExecutionIo {
 public:
  virtual ~ExecutionIo() = default;

  // The command runs. Called once, before any output; not when the command could not be started.
  virtual async::Task<void> started() = 0;
  // Bytes as the command wrote them, cut anywhere. The provider reads no further until this returns: this is how a slow
  // disk holds a fast command. An error ends the execution as cancelled.
  virtual async::Task<Status> output(Stream stream, std::string bytes) = 0;
  // At most `most` bytes of input; empty at its end. Waits until there are some.
  virtual async::Task<Result<std::string>> input(std::size_t most) = 0;
};

}  // namespace cofferdam::provider
