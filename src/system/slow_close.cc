#include "system/slow_close.h"

#include <fcntl.h>
#include <unistd.h>

namespace cofferdam::system {
namespace {

// Waits until the other end of `gate` is closed, which is when the parent's copies are gone, and ends: the kernel then
// closes what is left. Nothing else stays open, so that no reader of the caller's output waits for this process.
[[noreturn]] void end_after(int gate, int fd) {
  const int low = gate < fd ? gate : fd;
  const int high = gate < fd ? fd : gate;
  if (low > 0) ::close_range(0, static_cast<unsigned>(low - 1), 0);
  if (high - low > 1) ::close_range(static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0);
  ::close_range(static_cast<unsigned>(high + 1), ~0U, 0);
  char byte = 0;
  (void)!::read(gate, &byte, 1);
  ::_exit(0);
}

}  // namespace

void close_in_background(UniqueFd fd) {
  int gate[2];
  if (!fd || ::pipe2(gate, O_CLOEXEC) != 0) return;
  const UniqueFd read_end(gate[0]);
  const UniqueFd write_end(gate[1]);
  const pid_t child = ::fork();
  if (child == 0) end_after(read_end.get(), fd.get());
}

}  // namespace cofferdam::system
