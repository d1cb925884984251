#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace cofferdam {
namespace {

ErrorCode code_of_errno(int error_number) {
  switch (error_number) {
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOTDIR:
    case EISDIR:
      return ErrorCode::kInvalidArgument;
    case ENOENT:
    case ESRCH:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kResourceExhausted;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::kUnsupported;
    case ETIMEDOUT:
      return ErrorCode::kTimedOut;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return ErrorCode::kUnavailable;
    case ECANCELED:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kIo;
  }
}

// What mends it wherever it happens; most errors have no such answer.
std::string_view hint_of_errno(int error_number) {
  switch (error_number) {
    case EMFILE:
      return "Raise the limit of open files: `ulimit -n 1024` (`ulimit -Hn` shows how far it goes).";
    case ENFILE:
      return "The machine's table of open files is full: end something, or raise `sysctl fs.file-max`.";
    case ENOSPC:
    case EDQUOT:
      return "Its file system is full, or your share of it: make room there.";
    default:
      return "";
  }
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kAlreadyExists:
      return "already_exists";
    case ErrorCode::kPermissionDenied:
      return "permission_denied";
    case ErrorCode::kFailedPrecondition:
      return "failed_precondition";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::kTimedOut:
      return "timed_out";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kDataLoss:
      return "data_loss";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error Error::from_errno(int error_number, std::string_view what) {
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(error_number);
  return Error(code_of_errno(error_number), std::move(message)).with_hint(std::string(hint_of_errno(error_number)));
}

std::string Error::to_string() const {
  std::string line;
  for (auto step = context_.rbegin(); step != context_.rend(); ++step) {
    line += *step;
    line += ": ";
  }
  return line + message_;
}

}  // namespace cofferdam
