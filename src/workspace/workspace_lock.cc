#include "workspace/workspace_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/scope_exit.h"
#include "base/strings.h"
#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::workspace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kOwnerFile = "owner.json";
constexpr std::size_t kLongestOwner = 4096;
constexpr std::string_view kDefaultInstance = "default";
constexpr std::string_view kTimeoutText = "Timed out waiting for workspace restore lock at ";

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (resolved == nullptr) return Error::from_errno(errno, "find the workspace " + printable(path));
  return std::string(resolved.get());
}

Error not_plain(const std::string& path) {
  return Error(ErrorCode::kFailedPrecondition, "Directory merge lock root at " + path + " is not a plain directory.");
}

// Missing parents are made first; then the root itself is opened without following a link in its last place, so that
// what was checked and what is used are the same directory.
Result<UniqueFd> open_lock_root(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return not_plain(path);
  RETURN_IF_ERROR(system::make_private_directories(path));
  UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (root) return root;
  if (errno == ELOOP || errno == ENOTDIR) return not_plain(path);
  return Error::from_errno(errno, "open the directory of merge locks " + path);
}

// 2026-01-02T03:04:05.678Z
std::string time_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm fields{};
  ::gmtime_r(&now.tv_sec, &fields);
  char date[32];
  const std::size_t length = std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &fields);
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%03ldZ", now.tv_nsec / 1'000'000);
  return std::string(date, length) + fraction;
}

Status write_owner(int lock) {
  const std::string text = "{\"pid\":" + std::to_string(::getpid()) + ",\"createdAt\":\"" + time_now() + "\"}\n";
  ASSIGN_OR_RETURN(const UniqueFd file, system::open_beneath(lock, kOwnerFile, O_WRONLY | O_CREAT | O_EXCL, 0600));
  return system::write_all(file.get(), text, kOwnerFile);
}

// The number after "pid": of the owner's record; nothing when there is none. The record is one flat object of a program
// that this one trusts, so that its form need not be checked further.
std::optional<pid_t> owner_of(std::string_view record) {
  constexpr std::string_view kKey = "\"pid\"";
  const std::size_t key = record.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  std::string_view rest = trimmed(record.substr(key + kKey.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  rest = trimmed(rest.substr(1));
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto pid = parse_decimal(rest.substr(0, digits));
  if (!pid || *pid == 0 || *pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max())) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

bool is_alive(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

bool is_older_than(const struct stat& status, std::chrono::milliseconds age) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto seconds = std::chrono::seconds(now.tv_sec - status.st_mtim.tv_sec);
  return seconds + std::chrono::nanoseconds(now.tv_nsec - status.st_mtim.tv_nsec) > age;
}

// A lock without an owner is young while its holder is between making the directory and writing the record.
bool is_stale(int root, const std::string& name, std::chrono::milliseconds stale_after) {
  const auto lock = system::open_beneath(root, name, O_RDONLY | O_DIRECTORY);
  if (!lock) return false;
  const auto record = system::open_beneath(lock->get(), kOwnerFile, O_RDONLY);
  if (record) {
    const auto text = system::read_up_to(record->get(), kLongestOwner);
    const auto owner = text ? owner_of(*text) : std::nullopt;
    if (owner) return !is_alive(*owner);
  }
  struct stat status{};
  return ::fstat(lock->get(), &status) == 0 && is_older_than(status, stale_after);
}

// Of several that find it stale only one may remove it, and none the lock of the next holder. Our own programs take
// turns; against others it is renamed and looked at once more.
void remove_stale(int root, const std::string& name, std::chrono::milliseconds stale_after) {
  if (::flock(root, LOCK_EX) != 0) return;
  const ScopeExit unlock([&] { (void)::flock(root, LOCK_UN); });
  if (!is_stale(root, name, stale_after)) return;
  const std::string grave = name + ".stale-" + crypto::random_hex(8);
  if (::renameat(root, name.c_str(), root, grave.c_str()) != 0) return;
  if (!is_stale(root, grave, stale_after) && ::renameat(root, grave.c_str(), root, name.c_str()) == 0) return;
  (void)system::remove_tree_at(root, grave);
}

// False when somebody holds it.
Result<bool> try_to_make(int root, const std::string& name) {
  if (::mkdirat(root, name.c_str(), S_IRWXU) != 0) {
    if (errno == EEXIST) return false;
    return Error::from_errno(errno, "make the merge lock");
  }
  ScopeExit remove([&] { (void)system::remove_tree_at(root, name); });
  ASSIGN_OR_RETURN(const UniqueFd lock, system::open_beneath(root, name, O_RDONLY | O_DIRECTORY));
  RETURN_IF_ERROR(in_context(write_owner(lock.get()), "writing the owner of the merge lock"));
  remove.dismiss();
  return true;
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-';
  });
}

}  // namespace

Result<std::optional<std::string>> paperclip_instance_root(
    const std::function<std::optional<std::string>(const char*)>& variable) {
  const auto read = [&](const char* name) { return std::string(trimmed(variable(name).value_or(""))); };
  std::string home = read("PAPERCLIP_HOME");
  std::string instance = read("PAPERCLIP_INSTANCE_ID");
  if (home.empty() && instance.empty()) return std::optional<std::string>();
  if (home.empty()) home = "~/.paperclip";
  if (instance.empty()) instance = kDefaultInstance;
  if (home == "~" || home.starts_with("~/")) home = read("HOME") + home.substr(1);
  if (!is_plain_name(instance)) {
    return Error(ErrorCode::kInvalidArgument, "Invalid PAPERCLIP_INSTANCE_ID '" + printable(instance) + "'.");
  }
  if (!home.starts_with('/')) {
    return Error(ErrorCode::kInvalidArgument, "PAPERCLIP_HOME '" + printable(home) + "' is not an absolute path");
  }
  return std::optional(home + "/instances/" + instance);
}

Result<WorkspaceLock> WorkspaceLock::acquire(const std::string& target, const WorkspaceLockOptions& options) {
  ASSIGN_OR_RETURN(std::string real, real_path(target));
  const std::string root_path = options.instance_root + "/locks/directory-merge";
  ASSIGN_OR_RETURN(UniqueFd root, open_lock_root(root_path));
  std::string name = crypto::sha256(real).hex() + ".lock";
  const auto deadline = Clock::now() + options.wait;
  while (true) {
    ASSIGN_OR_RETURN(const bool made, try_to_make(root.get(), name));
    if (made) return WorkspaceLock(std::move(real), std::move(root), std::move(name));
    if (is_stale(root.get(), name, options.stale_after)) {
      remove_stale(root.get(), name, options.stale_after);
      continue;
    }
    if (Clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut, std::string(kTimeoutText) + root_path + "/" + name)
          .with_hint("Another merge into this workspace is running. Try again when it has ended.")
          .with_retry(RetryClass::kLater);
    }
    std::this_thread::sleep_for(options.poll);
  }
}

WorkspaceLock::WorkspaceLock(WorkspaceLock&& other) noexcept
    : target_(std::move(other.target_)), root_(std::move(other.root_)), name_(std::exchange(other.name_, {})) {}

WorkspaceLock::~WorkspaceLock() {
  if (!name_.empty()) (void)system::remove_tree_at(root_.get(), name_);
}

RestoreFailure restore_failure(const Error& error) {
  if (error.code() == ErrorCode::kPermissionDenied) {
    return {"restore_permission_denied", "the restore could not write to the workspace (permission denied)"};
  }
  if (error.code() == ErrorCode::kTimedOut && error.message().starts_with(kTimeoutText)) {
    return {"restore_lock_timeout", "the restore timed out waiting for the workspace merge lock"};
  }
  return {"restore_failed", "the restore failed"};
}

}  // namespace cofferdam::workspace
