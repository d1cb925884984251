#include "recovery/deadline.h"

#include <algorithm>

#include "recovery/failure.h"

namespace cofferdam::recovery {

Status SharedDeadline::check() const {
  if (left() > std::chrono::steady_clock::duration::zero()) return {};
  return failure(Failure::kDeadline,
                 "verification and normalisation took longer than " + std::to_string(limit_.count() / 1'000) + " s");
}

Result<git::GitOutput> DeadlineGit::run(const git::GitCommand& command) {
  RETURN_IF_ERROR(deadline_.check());
  git::GitCommand bounded = command;
  bounded.timeout = std::min(command.timeout, std::chrono::ceil<std::chrono::milliseconds>(deadline_.left()));
  auto output = git_.run(bounded);
  // git was ended because the shared time was over: that is what the caller must hear.
  if (!output && output.error().code() == ErrorCode::kTimedOut) RETURN_IF_ERROR(deadline_.check());
  return output;
}

}  // namespace cofferdam::recovery
