#pragma once

#include <string>

namespace cofferdam::async {

// Name of the first coroutine pattern that this compiler builds wrongly; empty when all are right.
std::string broken_coroutine_pattern();

}  // namespace cofferdam::async
