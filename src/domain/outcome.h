// How one execution ended: a closed set of kinds, never a number that means two things.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cofferdam::domain {

struct Outcome {
  enum class Kind : std::uint8_t {
    kExited,          // value = exit status 0..255
    kSignalled,       // value = signal number
    kTimedOut,        // the wall clock limit ended it
    kOutOfMemory,     // the memory limit ended it
    kStartFailed,     // the command never began; see start_error
    kCancelled,       // somebody asked to stop it and it did not end by itself; value = signal number
    kConnectionLost,  // the way to the sandbox broke: the command may still run; `message` says what is known
    kUnknown,         // a crash of ours hid it, and nobody can tell any more
  };
  enum class StartError : std::uint8_t {
    kNone,
    kNotFound,       // no such program
    kNotExecutable,  // found, but the system refuses to execute it
    kSetup,          // Cofferdam itself failed before the command began
  };

  Kind kind = Kind::kStartFailed;
  int value = 0;
  StartError start_error = StartError::kNone;
  std::string message;  // for kStartFailed, kConnectionLost and kUnknown: what failed and why
  std::chrono::milliseconds duration{0};

  bool operator==(const Outcome&) const = default;
};

std::string_view to_string(Outcome::Kind kind);

// The exit code that `cofferdam run` gives: the command's own; 124 time limit; 125 set-up failed, or nobody knows;
// 126 not executable; 127 not found; 128+n died of signal n; 137 out of memory.
int exit_code_of(const Outcome& outcome);

}  // namespace cofferdam::domain
