// The word of --prefer.
#pragma once

#include <string_view>

#include "workspace/merge_plan.h"

namespace cofferdam::cli {

// "both" (also when nothing is said), "sandbox" or "host"; the table of options has refused anything else.
inline workspace::Prefer preferred(std::string_view word) {
  if (word == "sandbox") return workspace::Prefer::kSandbox;
  return word == "host" ? workspace::Prefer::kHost : workspace::Prefer::kBoth;
}

}  // namespace cofferdam::cli
