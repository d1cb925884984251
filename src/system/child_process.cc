#include "system/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/scope_exit.h"

namespace cofferdam::system {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Every descriptor first moves above all targets, so that no dup2 overwrites one that is still needed.
struct DescriptorPlan {
  std::vector<UniqueFd> lifted;
  Status add_to(posix_spawn_file_actions_t* actions, const std::vector<int>& descriptors) {
    const int count = static_cast<int>(descriptors.size());
    for (int target = 0; target < count; ++target) {
      const int source = descriptors[static_cast<std::size_t>(target)];
      if (source < 0) {
        if (target <= 2) posix_spawn_file_actions_addopen(actions, target, "/dev/null", O_RDWR, 0);
        continue;
      }
      UniqueFd high(::fcntl(source, F_DUPFD_CLOEXEC, count < 3 ? 3 : count));
      if (!high) return Error::from_errno(errno, "duplicate a descriptor for a child");
      posix_spawn_file_actions_adddup2(actions, high.get(), target);
      lifted.push_back(std::move(high));
    }
    posix_spawn_file_actions_addclosefrom_np(actions, count < 3 ? 3 : count);
    return {};
  }
};

}  // namespace

Result<ChildProcess> ChildProcess::spawn(const SpawnRequest& request) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const ScopeExit destroy_actions([&] { posix_spawn_file_actions_destroy(&actions); });
  DescriptorPlan plan;
  RETURN_IF_ERROR(plan.add_to(&actions, request.descriptors));
  if (!request.working_directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, request.working_directory.c_str());
  }

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const ScopeExit destroy_attributes([&] { posix_spawnattr_destroy(&attributes); });
  sigset_t no_signals;
  sigset_t all_signals;
  sigemptyset(&no_signals);
  sigfillset(&all_signals);
  posix_spawnattr_setsigmask(&attributes, &no_signals);
  posix_spawnattr_setsigdefault(&attributes, &all_signals);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (request.new_session) flags |= POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  pid_t pid = -1;
  const std::vector<char*> arguments = pointers_to(request.arguments);
  const std::vector<char*> environment = pointers_to(request.environment);
  const int failure =
      ::posix_spawn(&pid, request.program.c_str(), &actions, &attributes, arguments.data(), environment.data());
  if (failure != 0) return Error::from_errno(failure, "start " + request.program);
  ChildProcess child(pid, UniqueFd());
  child.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd_) return Error::from_errno(errno, "open a pidfd for " + request.program);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill(SIGKILL);
  (void)reap(0);
}

void ChildProcess::kill(int signal_number) const {
  if (pid_ > 0) ::kill(pid_, signal_number);
}

Result<ExitStatus> ChildProcess::wait() {
  ASSIGN_OR_RETURN(const std::optional<ExitStatus> status, reap(0));
  return *status;
}

Result<std::optional<ExitStatus>> ChildProcess::try_wait() {
  return reap(WNOHANG);
}

Result<std::optional<ExitStatus>> ChildProcess::reap(int options) {
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid_, &status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) return Error::from_errno(errno, "wait for a child");
  if (reaped == 0) return std::optional<ExitStatus>();
  pid_ = -1;
  if (WIFSIGNALED(status)) return std::optional(ExitStatus{.signalled = true, .value = WTERMSIG(status)});
  return std::optional(ExitStatus{.signalled = false, .value = WEXITSTATUS(status)});
}

}  // namespace cofferdam::system
