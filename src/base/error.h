// The one error type of the project.
//
// An Error says what failed, on what, why, and what to do about it. Functions that can fail for reasons
// outside the program return Result<T> (result.h); exceptions are for bugs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cofferdam {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,     // the caller's input is wrong; repeating the call cannot help
  kNotFound,            // a named thing does not exist
  kAlreadyExists,       // a thing that must be new exists
  kPermissionDenied,    // the operating system or a policy said no
  kFailedPrecondition,  // the state must be mended first (a program is missing, a directory is not empty)
  kUnsupported,         // this machine, kernel or provider cannot do it
  kUnavailable,         // a peer cannot be reached now
  kResourceExhausted,   // a bound was hit: descriptors, disk, memory, a named limit of ours
  kTimedOut,
  kCancelled,  // somebody asked to stop; never turned into another code
  kDataLoss,   // content does not match its record
  kIo,         // a system call failed in a way no other code describes
  kInternal,   // a broken invariant of our own
};

std::string_view to_string(ErrorCode code);

// Whether repeating the same call can help.
enum class RetryClass : std::uint8_t { kNever, kAtOnce, kLater };

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // From an errno value: "<what>: <text of the errno>", with the code that fits it, and the hint where there is one.
  static Error from_errno(int error_number, std::string_view what);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  RetryClass retry() const { return retry_; }
  const std::vector<std::string>& context() const { return context_; }

  // What the reader can do about it, as a full sentence.
  Error with_hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }
  Error with_retry(RetryClass retry) && {
    retry_ = retry;
    return std::move(*this);
  }
  // Added while unwinding, innermost first: "reading policy file /x".
  Error with_context(std::string context) && {
    context_.push_back(std::move(context));
    return std::move(*this);
  }

  // One line: outermost context first, then the message. Without the hint.
  std::string to_string() const;

 private:
  ErrorCode code_;
  RetryClass retry_ = RetryClass::kNever;
  std::string message_;
  std::string hint_;
  std::vector<std::string> context_;
};

}  // namespace cofferdam
