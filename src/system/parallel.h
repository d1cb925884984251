// A bounded number of threads working through a list.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace cofferdam::system {

// One per processor that this process may use; at least one, at most 16.
unsigned default_threads();

// Calls work(index) for every index below `count`, on `threads` threads (0: default_threads(); one: the caller's own).
// After a failure no further index is begun; the failure of the lowest index is returned.
Status for_each_parallel(std::size_t count, unsigned threads, const std::function<Status(std::size_t)>& work);

}  // namespace cofferdam::system
