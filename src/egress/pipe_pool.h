// Pipes for moving payload between sockets without copying it through this process.
#pragma once

#include <vector>

#include "base/unique_fd.h"

namespace cofferdam::egress {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
  explicit operator bool() const { return static_cast<bool>(read_end); }
};

// A relay borrows a pipe only while bytes are in flight, so thousands of idle tunnels share a few. take() gives
// nothing when kMaxPipes are out or descriptors are short: the relay then copies. Used on the loop only.
class PipePool {
 public:
  static constexpr std::size_t kMaxPipes = 128;
  static constexpr std::size_t kMaxSpare = 8;
  static constexpr int kPipeBytes = 1024 * 1024;

  Pipe take();
  // Only an empty pipe may come back: what is left in it would reach another connection.
  void give_back(Pipe pipe);
  // For a pipe that could not be emptied.
  void discard(Pipe pipe);

 private:
  std::vector<Pipe> spare_;
  std::size_t out_ = 0;
};

}  // namespace cofferdam::egress
