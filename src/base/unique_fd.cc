#include "base/unique_fd.h"

#include <unistd.h>

namespace cofferdam {

void UniqueFd::reset(int fd) {
  // A failed close leaves nothing to do: the descriptor is gone either way on Linux.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace cofferdam
