#include "system/standard_descriptors.h"

#include <fcntl.h>
#include <stdlib.h>

namespace cofferdam::system {

void fill_standard_descriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Without /dev/null nothing may start.
    if (::open("/dev/null", O_RDWR) != fd) ::abort();  // NOLINT(android-cloexec-open): it is meant to be inherited
  }
}

}  // namespace cofferdam::system
