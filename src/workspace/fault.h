// Named steps at which a test stops or kills the work. The product runs without one.
#pragma once

#include <string_view>

#include "base/result.h"

namespace cofferdam::workspace {

class FaultPoint {
 public:
  virtual ~FaultPoint() = default;
  // Called before the step `name`. An error is treated as if the step had failed with it.
  virtual Status before(std::string_view name) = 0;
};

inline Status reach(FaultPoint* point, std::string_view name) {
  return point == nullptr ? Status() : point->before(name);
}

}  // namespace cofferdam::workspace
