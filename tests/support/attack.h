// Single attempts of a confined program to get out. Each returns 0 when the attempt was allowed, else its errno.
#pragma once

#include <string>
#include <vector>

namespace attack {

using Arguments = std::vector<std::string>;

struct Attempt {
  const char* name;
  int (*run)(const Arguments& arguments);
};

extern const std::vector<Attempt> kSocketAttempts;
extern const std::vector<Attempt> kProcessAttempts;

// -1 with errno → errno, else 0.
int result_of(long value);

}  // namespace attack
