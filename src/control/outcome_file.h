// The outcome of a run as JSON, for programs that must not guess from a number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "confinement/plan.h"
#include "domain/outcome.h"
#include "egress/config.h"

namespace cofferdam::control {

struct RunReport {
  std::string run_id;
  domain::Outcome outcome;
  std::vector<confinement::PlannedLimit> limits;  // what was in force, and by what means
  std::optional<egress::EgressSummary> egress;    // of a run behind the egress proxy
  std::vector<std::string> unprotected;           // protected places that the host replaced during the run
  bool memory_limit_hit = false;                  // something in the run was killed for it, maybe not the command
};

// Members: run, kind, exit_code (of `cofferdam run`), exited, signalled (signal number), timed_out, out_of_memory,
// start_failed (kind and message), cancelled, duration_ms, limits, memory_limit_hit,
// unprotected, network (the proxy's counts and refusals). What does not apply is null or false.
std::string outcome_json(const RunReport& report);

// Before the start: takes away what an earlier run left there and proves that a file can be made, so that nobody reads
// an old outcome as this run's.
Status prepare_outcome(const std::string& path);

Status write_outcome(const std::string& path, const RunReport& report);

}  // namespace cofferdam::control
