// Times of files as the system calls want them.
#pragma once

#include <cstdint>
#include <ctime>

namespace cofferdam::workspace {

inline timespec time_of(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t rest = ((nanoseconds % kSecond) + kSecond) % kSecond;
  return {.tv_sec = (nanoseconds - rest) / kSecond, .tv_nsec = rest};
}

}  // namespace cofferdam::workspace
