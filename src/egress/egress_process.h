// The supervisor's hold on the proxy process of one run. Knows nothing of the event loop or of HTTP: it is part of
// `cofferdam run`, whose start time counts.
#pragma once

#include <chrono>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "domain/egress_decision.h"
#include "egress/config.h"
#include "system/child_process.h"

namespace cofferdam::egress {

// Owns the process. It ends when finish() is called, when this object goes, and by itself when the supervisor dies.
// One thread at a time.
class EgressProcess {
 public:
  static constexpr std::chrono::milliseconds kFinishTime{3000};

  // Opens the log, starts the program. Fails when the upstream proxy's URL is wrong, the log cannot be opened or
  // the program cannot be executed. Does not wait until the program is ready: listeners queue up in the channel.
  static Result<EgressProcess> start(const EgressConfig& config);

  // The end of the channel for cofferdam-init: one SEQPACKET message for each listener, its descriptor as
  // SCM_RIGHTS, its text "proxy" or "direct HOST PORT". Closing it means that no more will come.
  UniqueFd take_channel() { return std::move(channel_); }

  // The direct listeners that the rules ask for.
  const std::vector<domain::LoopbackForward>& direct_listeners() const { return direct_listeners_; }

  pid_t pid() const { return child_.pid(); }
  // Readable when the process has ended; before finish() that means it has failed.
  int pidfd() const { return child_.pidfd(); }

  // Asks it to end, waits for its summary, and kills it after `limit`. Once only.
  Result<EgressSummary> finish(std::chrono::milliseconds limit = kFinishTime);

 private:
  EgressProcess(system::ChildProcess child, UniqueFd life, UniqueFd summary, UniqueFd channel,
                std::vector<domain::LoopbackForward> direct_listeners)
      : child_(std::move(child)),
        life_(std::move(life)),
        summary_(std::move(summary)),
        channel_(std::move(channel)),
        direct_listeners_(std::move(direct_listeners)) {}

  system::ChildProcess child_;
  UniqueFd life_;  // closing it asks the process to end
  UniqueFd summary_;
  UniqueFd channel_;
  std::vector<domain::LoopbackForward> direct_listeners_;
};

}  // namespace cofferdam::egress
