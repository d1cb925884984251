#include "control/local_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "base/ranges.h"
#include "base/strings.h"
#include "confinement/cgroup.h"
#include "confinement/linux_host_view.h"
#include "confinement/planner.h"
#include "confinement/sandbox.h"
#include "control/git_watch.h"
#include "control/home_files.h"
#include "control/outcome_file.h"
#include "control/placeholders.h"
#include "control/protected_places.h"
#include "control/run_egress.h"
#include "control/run_folder.h"
#include "control/terminal_relay.h"
#include "system/owner_umask.h"

namespace cofferdam::control {
namespace {

using Clock = std::chrono::steady_clock;
using confinement::ConfinementPlan;
using confinement::Sandbox;
using confinement::SandboxEvent;
using domain::Outcome;

// Between asking the command to end and ending it.
constexpr std::chrono::seconds kGrace{10};
// Between asking cofferdam-init to end everything and killing the sandbox from outside.
constexpr std::chrono::seconds kHardGrace{2};

constexpr std::array kForwardedSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
constexpr std::array kHandledSignals = {SIGWINCH, SIGTSTP, SIGCONT};

Error not_found(const std::string& program) {
  if (program.empty()) {
    return Error(ErrorCode::kNotFound, "The name of the program is empty")
        .with_hint("The first word after \"--\" is the program: is it an unset variable?");
  }
  Error error(ErrorCode::kNotFound, printable(program) + ": command not found in the sandbox");
  constexpr std::string_view kVisible =
      "Only the system's tools, the workspace and what is granted are visible: show its directory with --ro DIR";
  if (program.contains('/')) return std::move(error).with_hint(std::string(kVisible) + ".");
  return std::move(error).with_hint("Is its directory in PATH? " + std::string(kVisible) +
                                    ", and name its full path or add the directory to PATH.");
}

Error not_executable(const std::string& program, int error_number) {
  const std::string name = printable(program);
  if (error_number == ENOEXEC) {
    return Error(ErrorCode::kPermissionDenied, name + ": it is no program this system can execute (no #! line?)")
        .with_hint("Name its interpreter: sh " + name);
  }
  Error error(ErrorCode::kPermissionDenied, name + ": " + std::strerror(error_number));
  if (error_number != EACCES) return error;
  return std::move(error).with_hint("Make it executable: chmod +x " + name);
}

std::string duration_text(std::chrono::milliseconds duration) {
  constexpr int kMillisecondsPerSecond = 1000;
  const auto count = duration.count();
  return count % kMillisecondsPerSecond == 0 ? std::to_string(count / kMillisecondsPerSecond) + "s"
                                             : std::to_string(count) + "ms";
}

bool asks_to_end(int signal_number) {
  return signal_number == SIGTERM || signal_number == SIGHUP;
}

// Signals that the run handles, as a descriptor; ignores broken pipes while it lives.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : kForwardedSignals) sigaddset(&set, number);
    for (const int number : kHandledSignals) sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, &former_);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    broken_pipe_ = ::signal(SIGPIPE, SIG_IGN);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    ::signal(SIGPIPE, broken_pipe_);
    ::sigprocmask(SIG_SETMASK, &former_, nullptr);
  }
  int fd() const { return fd_.get(); }
  std::optional<int> next() const {
    signalfd_siginfo information{};
    if (::read(fd_.get(), &information, sizeof information) != sizeof information) return std::nullopt;
    return static_cast<int>(information.ssi_signo);
  }

 private:
  UniqueFd fd_;
  sigset_t former_{};
  sighandler_t broken_pipe_ = SIG_DFL;
};

// Follows a started sandbox to its end.
class Watch {
 public:
  Watch(Sandbox& sandbox, std::optional<egress::EgressProcess>& proxy, TerminalRelay& terminal,
        const HomeFiles& home_files, const LocalRunRequest& request, Messages& messages, const Signals& signals)
      : sandbox_(sandbox),
        proxy_(proxy),
        terminal_(terminal),
        home_files_(home_files),
        request_(request),
        messages_(messages),
        signals_(signals) {}

  Outcome follow() {
    while (!gone_) {
      std::vector<pollfd> watched = {{.fd = sandbox_.event_fd(), .events = POLLIN, .revents = 0},
                                     {.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                     {.fd = proxy_ ? proxy_->pidfd() : -1, .events = POLLIN, .revents = 0}};
      terminal_.add_to(watched);
      if (::poll(watched.data(), watched.size(), timeout()) < 0 && errno != EINTR) break;
      terminal_.serve(watched);
      if (watched[2].revents != 0) lose_proxy();
      if (watched[1].revents != 0) serve_signals();
      if (watched[0].revents != 0) serve_event();
      serve_deadline();
    }
    terminal_.drain();
    outcome_.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
    return std::move(outcome_);
  }

 private:
  enum class Stage : std::uint8_t { kRunning, kAsked, kKilled, kKilledHard };

  int timeout() const {
    const int deadline = milliseconds_to_deadline();
    const int recheck = terminal_.recheck_milliseconds();
    if (deadline < 0 || recheck < 0) return std::max(deadline, recheck);
    return std::min(deadline, recheck);
  }

  int milliseconds_to_deadline() const {
    if (!deadline_) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(0, left) + 1);
  }

  void serve_signals() {
    while (const auto number = signals_.next()) {
      if (*number == SIGWINCH) {
        terminal_.resize();
      } else if (*number == SIGTSTP) {
        sandbox_.signal(SIGTSTP);
        stop_self();
      } else if (*number == SIGCONT) {
        terminal_.resume();  // perhaps in the foreground now
      } else {
        sandbox_.signal(*number);
        if (asks_to_end(*number)) ask_to_end(false);
      }
    }
  }

  // Stops this process as its shell expects, and goes on with the command when the shell continues it.
  void stop_self() {
    terminal_.suspend();
    ::raise(SIGSTOP);
    terminal_.resume();
    sandbox_.resume();
  }

  void ask_to_end(bool timed_out) {
    if (stage_ != Stage::kRunning) return;
    stage_ = Stage::kAsked;
    timed_out_ = timed_out;
    deadline_ = Clock::now() + kGrace;
  }

  void serve_deadline() {
    if (!deadline_ || Clock::now() < *deadline_) return;
    switch (stage_) {
      case Stage::kRunning:
        sandbox_.signal(SIGTERM);
        sandbox_.signal(SIGCONT);
        ask_to_end(true);
        break;
      case Stage::kAsked:
        stage_ = Stage::kKilled;
        sandbox_.kill_all();
        deadline_ = Clock::now() + kHardGrace;
        break;
      case Stage::kKilled:
        stage_ = Stage::kKilledHard;
        sandbox_.kill_hard();
        deadline_.reset();
        break;
      case Stage::kKilledHard:
        break;
    }
  }

  // The command goes on: what it cannot do without a network it finds out itself.
  void lose_proxy() {
    tell_lost_proxy(proxy_->finish(), messages_);
    proxy_.reset();
  }

  void serve_event() {
    auto event = sandbox_.next_event();
    if (!event || !*event) {
      gone_ = true;
      if (!decided_) lost();
      return;
    }
    handle(**event);
  }

  void handle(SandboxEvent& event) {
    switch (event.kind) {
      case confinement::init::Event::kTerminal:
        terminal_.attach(std::move(event.descriptor));
        break;
      case confinement::init::Event::kStarted:
        started_ = true;
        begin_ = Clock::now();
        if (request_.policy.limits.wall_clock && !deadline_) deadline_ = begin_ + *request_.policy.limits.wall_clock;
        break;
      case confinement::init::Event::kStartFailed:
        start_failed(event);
        break;
      case confinement::init::Event::kSetupFailed:
        fail_to_start(Outcome::StartError::kSetup, Error::from_errno(event.value, "Cannot " + printable(event.text)));
        break;
      case confinement::init::Event::kStopped:
        stop_self();
        break;
      case confinement::init::Event::kFile:
        bring_home(event);
        break;
      case confinement::init::Event::kEnded:
        ended(event);
        break;
    }
  }

  void start_failed(const SandboxEvent& event) {
    const bool missing = event.value == ENOENT || event.value == ENOTDIR;
    fail_to_start(missing ? Outcome::StartError::kNotFound : Outcome::StartError::kNotExecutable,
                  missing ? not_found(event.text) : not_executable(event.text, event.value));
  }

  void ended(const SandboxEvent& event) {
    Outcome outcome{.kind = event.signalled ? Outcome::Kind::kSignalled : Outcome::Kind::kExited, .value = event.value};
    if (timed_out_) {
      outcome.kind = Outcome::Kind::kTimedOut;
    } else if (stage_ == Stage::kKilled) {
      outcome.kind = Outcome::Kind::kCancelled;
    }
    decide(outcome);
  }

  // The sandbox went without a last word: killed from outside, or never built.
  void lost() {
    if (started_) {
      decide({.kind = timed_out_ ? Outcome::Kind::kTimedOut : Outcome::Kind::kCancelled, .value = SIGKILL});
      return;
    }
    fail_to_start(Outcome::StartError::kSetup, sandbox_.failure());
  }

  void fail_to_start(Outcome::StartError kind, const Error& error) {
    if (decided_) return;
    messages_.failure(error);
    decide({.kind = Outcome::Kind::kStartFailed, .start_error = kind, .message = error.to_string()});
  }

  // The first word counts.
  void decide(Outcome outcome) {
    if (decided_) return;
    decided_ = true;
    if (outcome.kind == Outcome::Kind::kTimedOut && request_.policy.limits.wall_clock) {
      messages_.note("ended after " + duration_text(*request_.policy.limits.wall_clock) +
                     ": the time limit (--timeout)");
    }
    outcome_ = std::move(outcome);
  }

  void bring_home(const SandboxEvent& event) {
    const auto remark = home_files_.bring_home(event.text, event.descriptor);
    if (!remark) {
      messages_.failure(remark.error());
    } else if (!remark->empty()) {
      messages_.note(*remark);
    }
  }

  Sandbox& sandbox_;
  std::optional<egress::EgressProcess>& proxy_;  // nothing once it has died
  TerminalRelay& terminal_;
  const HomeFiles& home_files_;
  const LocalRunRequest& request_;
  Messages& messages_;
  const Signals& signals_;

  Outcome outcome_;
  Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> deadline_;
  Stage stage_ = Stage::kRunning;
  bool started_ = false;
  bool timed_out_ = false;
  bool decided_ = false;
  bool gone_ = false;
};

Outcome setup_failed(const Error& error, Messages& messages) {
  messages.failure(error);
  return {
      .kind = Outcome::Kind::kStartFailed, .start_error = Outcome::StartError::kSetup, .message = error.to_string()};
}

Result<Sandbox> start_sandbox(const ConfinementPlan& plan, const HomeFiles& home_files, const TerminalRelay& terminal,
                              UniqueFd egress_channel, const confinement::Cgroup& cgroup) {
  const confinement::SandboxDescriptors descriptors{.egress = egress_channel ? egress_channel.get() : -1};
  return Sandbox::start(plan, home_files.contents(), descriptors, terminal.description(), &cgroup);
}

// The kernel takes a mount away when what it covers is replaced from outside.
void tell_replaced(const std::vector<std::string>& paths, Messages& messages) {
  constexpr std::size_t kMostTold = 10;
  for (std::size_t index = 0; index < std::min(paths.size(), kMostTold); ++index) {
    messages.note(paths[index] +
                  " is protected and was replaced on this machine during the run. From then on nothing kept the run "
                  "from changing it: look at it before you use it.");
  }
  if (paths.size() > kMostTold) {
    messages.note("So were " + std::to_string(paths.size() - kMostTold) + " more protected places (see --outcome).");
  }
}

void tell_git_attempt(const GitConfigWatch& watch, const std::vector<std::string>& replaced, Messages& messages) {
  if (!watch.saw_attempt() || contains(replaced, watch.config())) return;
  messages.note(
      "Something tried to change the Git configuration, which is protected (as `git remote add` and "
      "`git push -u` do). --git-config writable allows it.");
}

void tell_memory(const confinement::Cgroup& cgroup, Outcome& outcome, Messages& messages, RunReport& report) {
  report.memory_limit_hit = cgroup.ran_out_of_memory();
  if (!report.memory_limit_hit) return;
  messages.note("The memory limit was reached: the kernel ended a process of the run. --memory raises it.");
  const bool was_the_command = outcome.kind == Outcome::Kind::kSignalled && outcome.value == SIGKILL;
  if (was_the_command) outcome.kind = Outcome::Kind::kOutOfMemory;
}

void end_egress(egress::EgressProcess& proxy, Messages& messages, RunReport& report) {
  Result<egress::EgressSummary> summary = proxy.finish();
  if (!summary) return messages.failure(summary.error());
  report.egress = std::move(*summary);
  tell_refusals(*report.egress, report.run_id, messages);
}

// Everything between a plan and its outcome, in order. Each step's owner undoes it on the way out.
Result<Outcome> carry_out(ConfinementPlan& plan, const confinement::HostFacts& facts, RunFolder& folder,
                          GitConfigWatch& git_watch, const LocalRunRequest& request, Messages& messages,
                          RunReport& report) {
  const Signals signals;
  const std::string& run_id = report.run_id;
  RETURN_IF_ERROR(folder.will_undo({.cgroups = confinement::Cgroup::directories_for(facts.cgroups, run_id, plan.limits),
                                    .placeholders = plan.placeholders}));
  RETURN_IF_ERROR(make_placeholders(plan.placeholders));
  ASSIGN_OR_RETURN(const ProtectedPlaces places, ProtectedPlaces::hold(plan));
  folder.started();
  ASSIGN_OR_RETURN(const confinement::Cgroup cgroup, confinement::Cgroup::create(facts.cgroups, run_id, plan.limits));
  ASSIGN_OR_RETURN(const HomeFiles home_files, HomeFiles::read(plan.home_files, plan.identity));
  git_watch.watch(plan.git_config_lock);

  ASSIGN_OR_RETURN(std::optional<egress::EgressProcess> egress,
                   start_egress(plan, facts.environment, run_id, folder.path()));

  TerminalRelay terminal;
  ASSIGN_OR_RETURN(Sandbox sandbox,
                   start_sandbox(plan, home_files, terminal, egress ? egress->take_channel() : UniqueFd(), cgroup));
  Outcome outcome = Watch(sandbox, egress, terminal, home_files, request, messages, signals).follow();
  for (const std::string& remark : set_aside(plan.kept_absent, plan.identity)) messages.note(remark);
  tell_memory(cgroup, outcome, messages, report);
  if (egress) end_egress(*egress, messages, report);
  report.unprotected = places.replaced();
  tell_replaced(report.unprotected, messages);
  tell_git_attempt(git_watch, report.unprotected, messages);
  return outcome;
}

// All of them are told, the last by the caller.
Status check_obstacles(const ConfinementPlan& plan, Messages& messages) {
  if (plan.obstacles.empty()) return {};
  for (std::size_t index = 0; index + 1 < plan.obstacles.size(); ++index) messages.failure(plan.obstacles[index]);
  return plan.obstacles.back();
}

// With fewer, some step of a run fails, and what it then says may be wrong: a file that cannot be opened looks absent.
Status check_open_files() {
  constexpr rlim_t kLeastOpenFiles = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kLeastOpenFiles) return {};
  return Error(ErrorCode::kResourceExhausted, "This process may open " + std::to_string(limit.rlim_cur) +
                                                  " files; a run needs " + std::to_string(kLeastOpenFiles))
      .with_hint("Raise the limit: `ulimit -n 1024` (`ulimit -Hn` shows how far it goes).");
}

// The folder first: it sweeps after runs that died, and what other runs have made must not be taken for the user's.
Result<Outcome> plan_and_carry_out(const LocalRunRequest& request, Messages& messages, RunReport& report) {
  RETURN_IF_ERROR(check_open_files());
  const system::OwnerUmask umask;
  // Destroyed last: the process that it leaves the close to starts with copies of every lock that is still held.
  GitConfigWatch git_watch;
  ASSIGN_OR_RETURN(RunFolder folder, RunFolder::create());
  report.run_id = folder.run_id();
  ASSIGN_OR_RETURN(confinement::LinuxHostView host, confinement::LinuxHostView::create());
  host.hide(untouched_placeholders(folder.placeholders_of_others()));
  const confinement::SubstitutedHostView seen(host, request.substitutions);
  ASSIGN_OR_RETURN(ConfinementPlan plan, confinement::make_plan(request.policy, request.command, seen));
  confinement::substitute(plan, request.substitutions);
  RETURN_IF_ERROR(check_obstacles(plan, messages));
  plan.umask = umask.callers();
  report.limits = plan.limits;
  if (!plan.announcement.empty()) messages.note(plan.announcement);
  for (const std::string& note : plan.notes) messages.note(note);
  return carry_out(plan, host.facts(), folder, git_watch, request, messages, report);
}

}  // namespace

RunReport run_confined(const LocalRunRequest& request, Messages& messages) {
  RunReport report;
  auto outcome = plan_and_carry_out(request, messages, report);
  report.outcome = outcome ? std::move(*outcome) : setup_failed(outcome.error(), messages);
  return report;
}

Outcome run_local(const LocalRunRequest& request, Messages& messages) {
  if (!request.outcome_file.empty()) {
    if (const Status ready = prepare_outcome(request.outcome_file); !ready)
      return setup_failed(ready.error(), messages);
  }
  const RunReport report = run_confined(request, messages);
  if (request.outcome_file.empty()) return report.outcome;
  if (const Status written = write_outcome(request.outcome_file, report); !written) messages.failure(written.error());
  return report.outcome;
}

}  // namespace cofferdam::control
