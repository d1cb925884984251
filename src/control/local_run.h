// The life of one confined run on this machine, from policy to outcome.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "confinement/substitution.h"
#include "control/outcome_file.h"
#include "domain/outcome.h"
#include "domain/policy.h"

namespace cofferdam::control {

struct LocalRunRequest {
  domain::Policy policy;
  std::vector<std::string> command;                      // argv of the command; never empty
  std::string outcome_file;                              // where the outcome is written as JSON; empty: nowhere
  std::vector<confinement::Substitution> substitutions;  // private copies that stand for trees of the host
};

// Our own words to the person who started the run. The command's output never passes through here.
class Messages {
 public:
  virtual ~Messages() = default;
  virtual void note(std::string_view line) = 0;  // silenced by --quiet
  virtual void failure(const Error& error) = 0;  // always shown
};

// Runs `request.command` confined and waits for its end. The outcome also tells of a command that could not be
// started (and then `messages` has said why). Must be called from the main thread: the sandbox dies with it.
// Writes `request.outcome_file`.
domain::Outcome run_local(const LocalRunRequest& request, Messages& messages);

// The same for a caller that has more to do before the outcome is told: writes no file, and says all that is known.
RunReport run_confined(const LocalRunRequest& request, Messages& messages);

}  // namespace cofferdam::control
