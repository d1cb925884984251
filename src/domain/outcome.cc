#include "domain/outcome.h"

#include <csignal>

namespace cofferdam::domain {

std::string_view to_string(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kExited:
      return "exited";
    case Outcome::Kind::kSignalled:
      return "signalled";
    case Outcome::Kind::kTimedOut:
      return "timed_out";
    case Outcome::Kind::kOutOfMemory:
      return "out_of_memory";
    case Outcome::Kind::kStartFailed:
      return "start_failed";
    case Outcome::Kind::kCancelled:
      return "cancelled";
    case Outcome::Kind::kConnectionLost:
      return "connection_lost";
    case Outcome::Kind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

int exit_code_of(const Outcome& outcome) {
  constexpr int kSignalBase = 128;
  switch (outcome.kind) {
    case Outcome::Kind::kExited:
      return outcome.value;
    case Outcome::Kind::kSignalled:
    case Outcome::Kind::kCancelled:
      return kSignalBase + outcome.value;
    case Outcome::Kind::kTimedOut:
      return 124;
    case Outcome::Kind::kOutOfMemory:
      return kSignalBase + SIGKILL;
    case Outcome::Kind::kConnectionLost:
    case Outcome::Kind::kUnknown:
      return 125;
    case Outcome::Kind::kStartFailed:
      switch (outcome.start_error) {
        case Outcome::StartError::kNotFound:
          return 127;
        case Outcome::StartError::kNotExecutable:
          return 126;
        case Outcome::StartError::kNone:
        case Outcome::StartError::kSetup:
          return 125;
      }
  }
  return 125;
}

}  // namespace cofferdam::domain
