#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "locks.h"
#include "report.h"

namespace cofferdam::init {
namespace {

using confinement::init::Specification;

// How long children of the command may outlive it by themselves: enough for a reader of its last output.
constexpr int kDrainMilliseconds = 250;

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// As execvp, but with the search path of the specification and without falling back to a shell for files that
// the kernel does not know: whoever wants a shell names it.
int execute(const Specification& spec) {
  const std::vector<char*> arguments = pointers_to(spec.command);
  const std::vector<char*> environment = pointers_to(spec.environment);
  const std::string& name = spec.command[0];
  if (name.find('/') != std::string::npos) {
    ::execve(name.c_str(), arguments.data(), environment.data());
    return errno;
  }
  int result = ENOENT;
  std::size_t start = 0;
  while (start <= spec.search_path.size() && !name.empty()) {
    std::size_t end = spec.search_path.find(':', start);
    if (end == std::string::npos) end = spec.search_path.size();
    const std::string directory = spec.search_path.substr(start, end - start);
    const std::string candidate = directory + "/" + name;
    start = end + 1;
    if (directory.empty()) continue;
    ::execve(candidate.c_str(), arguments.data(), environment.data());
    if (errno != ENOENT && errno != ENOTDIR) result = errno;
  }
  return result;
}

void restore_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

struct StartFailure {
  int error_number = 0;
  bool in_setup = false;
  const char* what = nullptr;
};

// Gives the command its three descriptors and closes all others but the write end of the failure pipe, which moves
// to 3 and still vanishes with the exec. Returns its new number.
int keep_only_standard_descriptors(const Specification& spec, Terminal terminal, int failure_fd) {
  constexpr int kFailureFd = 3;  // may be the terminal's number until that has been copied
  ::dup2(protocol::kCommandErrorFd, STDERR_FILENO);
  for (int fd = 0; fd < 3; ++fd) {
    if ((spec.terminal_descriptors & (1U << fd)) != 0) ::dup2(terminal.slave, fd);
  }
  if (failure_fd != kFailureFd) ::dup3(failure_fd, kFailureFd, O_CLOEXEC);
  ::close_range(kFailureFd + 1, ~0U, 0);
  return kFailureFd;
}

// The child's way to the command. Returns only on failure. `failure_fd` is closed by a successful exec.
[[noreturn]] void become_command(const Specification& spec, Terminal terminal, int landlock_ruleset, int failure_fd) {
  StartFailure failure;
  const auto fail = [&](int error_number, bool in_setup, const char* what) {
    failure = {.error_number = error_number, .in_setup = in_setup, .what = what};
    (void)!::write(failure_fd, &failure, sizeof failure);
    ::_exit(125);
  };
  ::setpgid(0, 0);
  if (terminal.slave >= 0) ::tcsetpgrp(terminal.slave, ::getpid());
  if (::chdir(spec.working_directory.c_str()) != 0) fail(errno, true, "enter the working directory");
  if (const int error_number = set_limits(spec); error_number != 0) fail(error_number, true, "set the limits");
  if (const int error_number = enter_landlock(landlock_ruleset); error_number != 0) {
    fail(error_number, true, "enter Landlock");
  }
  ::umask(spec.umask);
  failure_fd = keep_only_standard_descriptors(spec, terminal, failure_fd);
  restore_signals();
  if (const int error_number = enter_seccomp(spec.nested_sandboxes); error_number != 0) {
    fail(error_number, true, "enter seccomp");
  }
  fail(execute(spec), false, "execute");
  ::_exit(125);
}

class Follower {
 public:
  Follower(const Specification& spec, pid_t command, Terminal terminal)
      : spec_(spec), command_(command), terminal_(terminal) {
    sigset_t all;
    sigfillset(&all);
    signals_ = ::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  void run() {
    while (!ended_) {
      wait_for_event(-1);
      reap();
    }
    drain();
    ::kill(-1, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    return_files();
    report(protocol::Event::kEnded, value_, signalled_);
  }

 private:
  void wait_for_event(int timeout) {
    pollfd watched[2] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                         {.fd = protocol::kControlFd, .events = POLLIN, .revents = 0}};
    if (::poll(watched, 2, timeout) <= 0) return;
    signalfd_siginfo information;
    while (::read(signals_, &information, sizeof information) > 0) {
    }
    if (watched[1].revents != 0) serve_request();
  }

  void serve_request() {
    protocol::Packet packet;
    const ssize_t size = ::recv(protocol::kControlFd, &packet, sizeof packet, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size != sizeof packet) ::_exit(125);  // the supervisor is gone, and with this process the sandbox goes
    switch (static_cast<protocol::Request>(packet.kind)) {
      case protocol::Request::kSignal:
        ::kill(-command_, packet.value);
        // A command that moved to another group has missed it.
        if (::getpgid(command_) != command_) ::kill(command_, packet.value);
        break;
      case protocol::Request::kContinue:
        if (terminal_.slave >= 0 && stopped_group_ > 0) ::tcsetpgrp(terminal_.slave, stopped_group_);
        ::kill(-command_, SIGCONT);
        break;
      case protocol::Request::kKill:
        ::kill(-1, SIGKILL);
        break;
    }
  }

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
      if (pid <= 0) return;
      if (WIFSTOPPED(status)) {
        if (pid == command_ && terminal_.slave >= 0) {
          stopped_group_ = ::getpgid(pid);
          report(protocol::Event::kStopped, WSTOPSIG(status));
        }
        continue;
      }
      if (pid != command_) continue;
      ended_ = true;
      signalled_ = WIFSIGNALED(status);
      value_ = signalled_ ? WTERMSIG(status) : WEXITSTATUS(status);
    }
  }

  // Lets readers of the last output finish, but no server hold the run open.
  void drain() {
    timespec start{};
    ::clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid > 0) continue;
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      const long passed = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000;
      if (passed >= kDrainMilliseconds) return;
      wait_for_event(static_cast<int>(kDrainMilliseconds - passed));
    }
  }

  void return_files() {
    for (const std::string& path : spec_.files_to_return) {
      const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
      struct stat status{};
      if (file >= 0 && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        report(protocol::Event::kFile, 0, false, path, file);
      }
      if (file >= 0) ::close(file);
    }
  }

  const Specification& spec_;
  pid_t command_;
  Terminal terminal_;
  int signals_ = -1;
  bool ended_ = false;
  bool signalled_ = false;
  int value_ = 0;
  pid_t stopped_group_ = -1;
};

}  // namespace

Terminal open_terminal(const Specification& spec) {
  if (spec.terminal_descriptors == 0) return {};
  const int master = ::open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  int unlocked = 0;
  if (master < 0 || ::ioctl(master, TIOCSPTLCK, &unlocked) != 0) fail_setup(errno, "make a terminal");
  const int slave = ::ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) fail_setup(errno, "open the terminal");
  if (spec.terminal_modes.size() == sizeof(termios)) {
    termios modes{};
    std::memcpy(&modes, spec.terminal_modes.data(), sizeof modes);
    ::tcsetattr(slave, TCSANOW, &modes);
  }
  const winsize size{.ws_row = spec.rows, .ws_col = spec.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(slave, TIOCSWINSZ, &size);
  ::setsid();  // bubblewrap has done it already; then this fails harmlessly
  if (::ioctl(slave, TIOCSCTTY, 0) != 0) fail_setup(errno, "take the terminal");
  report(protocol::Event::kTerminal, 0, false, {}, master);
  ::close(master);
  return {.slave = slave};
}

pid_t start_command(const Specification& spec, Terminal terminal, int landlock_ruleset) {
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) fail_setup(errno, "make a pipe");
  const pid_t child = ::fork();
  if (child < 0) fail_setup(errno, "start a process");
  if (child == 0) become_command(spec, terminal, landlock_ruleset, failure[1]);
  ::setpgid(child, child);
  ::close(failure[1]);
  StartFailure reason;
  ssize_t size = 0;
  do {
    size = ::read(failure[0], &reason, sizeof reason);
  } while (size < 0 && errno == EINTR);
  ::close(failure[0]);
  if (size == 0) {
    report(protocol::Event::kStarted, child);
    return child;
  }
  if (reason.in_setup) fail_setup(reason.error_number, reason.what);
  report(protocol::Event::kStartFailed, reason.error_number, false, spec.command[0]);
  ::_exit(127);
}

void follow_command(const Specification& spec, pid_t command, Terminal terminal) {
  Follower(spec, command, terminal).run();
}

}  // namespace cofferdam::init
