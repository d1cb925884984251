#include "egress/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace cofferdam::egress {

Pipe PipePool::take() {
  if (!spare_.empty()) {
    Pipe pipe = std::move(spare_.back());
    spare_.pop_back();
    ++out_;
    return pipe;
  }
  std::array<int, 2> ends{};
  if (out_ >= kMaxPipes || ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return {};
  ++out_;
  // A bound of the user's pipe memory may refuse this: the pipe then works with its default size.
  ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void PipePool::give_back(Pipe pipe) {
  --out_;
  if (spare_.size() < kMaxSpare) spare_.push_back(std::move(pipe));
}

void PipePool::discard(Pipe pipe) {
  --out_;
  pipe.read_end.reset();
  pipe.write_end.reset();
}

}  // namespace cofferdam::egress
