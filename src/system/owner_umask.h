// What the caller's umask may not take away.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace cofferdam::system {

// While it lives, what this process and its helpers make stays usable for its owner, as the modes in the code say: a
// umask of 0777 would leave records that the next start cannot read and placeholders that nobody removes. The caller's
// bits for others stay. For processes with one thread.
class OwnerUmask {
 public:
  OwnerUmask() : callers_(::umask(0)) { ::umask(callers_ & ~mode_t{S_IRWXU}); }
  OwnerUmask(const OwnerUmask&) = delete;
  OwnerUmask& operator=(const OwnerUmask&) = delete;
  ~OwnerUmask() { ::umask(callers_); }

  mode_t callers() const { return callers_; }

 private:
  mode_t callers_;
};

}  // namespace cofferdam::system
