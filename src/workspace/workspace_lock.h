// One merge at a time for each workspace, among all programs of this machine.
//
// The place and the meaning are Paperclip's, so that its server and this program exclude each other:
// <instance root>/locks/directory-merge/<SHA-256 of the target's real path>.lock/owner.json {pid, createdAt}.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace cofferdam::workspace {

// The instance root that Paperclip's callers mean by PAPERCLIP_HOME and PAPERCLIP_INSTANCE_ID, read through `variable`
// (a caller's environment; nothing when it is not set). Nothing when neither is set: then the lock lies in our own
// state directory. kInvalidArgument for an instance id that is not a plain name.
Result<std::optional<std::string>> paperclip_instance_root(
    const std::function<std::optional<std::string>(const char*)>& variable);

struct WorkspaceLockOptions {
  std::string instance_root;  // absolute; directories that are missing are made, mode 0700
  std::chrono::milliseconds wait{30'000};
  std::chrono::milliseconds poll{50};
  std::chrono::milliseconds stale_after{30'000};  // for a lock without a readable owner.json
};

// Held from acquire() to destruction. A lock is stale when its owner's process is gone, or when owner.json is missing
// or names no process and the directory is older than `stale_after`; a stale lock is taken over. Not for sharing
// between threads.
class WorkspaceLock {
 public:
  // `target` may be any path to the workspace: aliases of one directory take the same lock. Blocks up to `wait`, then
  // fails with kTimedOut, "Timed out waiting for workspace restore lock at <path>".
  static Result<WorkspaceLock> acquire(const std::string& target, const WorkspaceLockOptions& options);

  WorkspaceLock(WorkspaceLock&& other) noexcept;
  WorkspaceLock& operator=(WorkspaceLock&&) = delete;
  WorkspaceLock(const WorkspaceLock&) = delete;
  WorkspaceLock& operator=(const WorkspaceLock&) = delete;
  ~WorkspaceLock();

  // What was locked, without links: the path to use while it is held.
  const std::string& target() const { return target_; }

 private:
  WorkspaceLock(std::string target, UniqueFd root, std::string name)
      : target_(std::move(target)), root_(std::move(root)), name_(std::move(name)) {}
  std::string target_;
  UniqueFd root_;
  std::string name_;  // empty once moved from
};

// How a failed restore is told to others: never with a path or a process id.
struct RestoreFailure {
  const char* code;
  const char* text;
};
RestoreFailure restore_failure(const Error& error);

// The code that goes with the timeout.
inline constexpr const char* kRestoreLockTimeoutCode = "ERR_WORKSPACE_RESTORE_LOCK_TIMEOUT";

}  // namespace cofferdam::workspace
