// Whether this machine can confine, fact by fact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cofferdam::control {

struct Finding {
  enum class State : std::uint8_t {
    kOk,
    kDegraded,  // `run` works, with less (the detail says what is missing)
    kFailed,    // `run` cannot work
  };
  std::string id;     // stable, for programs: "user_namespaces"
  std::string title;  // "User namespaces"
  State state = State::kOk;
  std::string detail;  // what was found, and for a failure its cause
  std::string remedy;  // the command that mends it; empty when nothing is wrong
};

// Examines the machine; starts short-lived confined children to know rather than to guess.
std::vector<Finding> examine_host();

}  // namespace cofferdam::control
