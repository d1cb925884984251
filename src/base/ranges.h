// What the standard library of this platform lacks of <algorithm>.
#pragma once

#include <algorithm>

namespace cofferdam {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::any_of(range, [&](const auto& item) { return item == value; });
}

}  // namespace cofferdam
