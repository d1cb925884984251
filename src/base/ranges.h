// What the standard library of this platform lacks of <algorithm>.
#pragma once

#include <algorithm>

namespace cofferdam {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace cofferdam
