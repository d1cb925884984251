// Names that this machine's name service did not know a moment ago.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "async/loop.h"

namespace cofferdam::egress {

// Behind an operator's proxy many names resolve only there, and asking here may take as long as the name service keeps
// silent. A failure is remembered for kMemory, so that only the first connection waits. When kMaxNames are remembered
// further ones are not. Used on the loop only.
class UnresolvedNames {
 public:
  static constexpr std::chrono::seconds kMemory{30};
  static constexpr std::size_t kMaxNames = 1024;

  void add(std::string host, async::Clock::time_point now);
  bool contains(const std::string& host, async::Clock::time_point now) const;

 private:
  std::unordered_map<std::string, async::Clock::time_point> forget_at_;
};

}  // namespace cofferdam::egress
