// Saving a workspace out of its sandbox, also when the sandbox's disk is full.
//
//   portable capture: helper and archive in the sandbox ── written ──► unpacked here ──► saved
//        │ ENOSPC in the write of helper or archive, and nothing else
//        ▼
//   one capture from this side: list ► budgets and layout ► stream ► compare ► configuration, git ► seal ► compare
//        │ any doubt                                                                                    │
//        ▼                                                                                              ▼
//   no snapshot, the copy here removed, the sandbox as it was                                        commit
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "git/git_program.h"
#include "recovery/deadline.h"
#include "recovery/plan.h"
#include "recovery/source.h"
#include "snapshot/capture.h"
#include "workspace/path_set.h"

namespace cofferdam::recovery {

// What of the root belongs to the runtime and never to a workspace.
inline constexpr const char* kRuntimeDirectory = ".paperclip-runtime";

struct SealRequest {
  std::string directory;                       // the copy, absolute
  std::vector<workspace::Omission> omissions;  // what is not in it, for the manifest
  // Asked when everything is sealed, with the fingerprint of what is; an error must end the save without a commit.
  std::function<Status(const Digest& sealed)> before_commit;
};

// The durable save, from the copy to the commit.
using Seal = std::function<Result<snapshot::CaptureReport>(const SealRequest&)>;

struct RecoveryRequest {
  workspace::PathSet exclude;      // paths below the root that the caller does not want
  bool with_dependencies = false;  // node_modules and Python environments too
  CaptureLimits limits;
  std::string scratch;  // a private directory of this machine
  std::string name;     // of this transfer: letters and digits, never used before
  Now now = std::chrono::steady_clock::now;
};

enum class Road : std::uint8_t {
  kPortable,    // through an archive in the sandbox
  kController,  // the sandbox's disk was full
};

struct Recovered {
  snapshot::CaptureReport capture;
  Road road = Road::kPortable;
  std::string disk_full;                   // what the first attempt met; empty on the portable road
  std::vector<std::string> leading_links;  // links that lead out, which were not carried (portable road)
  std::vector<std::string> notes;          // further things to tell, as sentences
};

// Blocks. The source is read, written to only by the first attempt below a directory that it removes, and never
// released. Errors are failures (failure.h); after the second attempt their context tells the first one's words.
// `git` is needed for the second attempt alone: its error is told then.
Result<Recovered> save_from_sandbox(Source& source, const Result<std::unique_ptr<git::GitProgram>>& git,
                                    const Seal& seal, const RecoveryRequest& request);

// The second attempt by itself: once, whatever becomes of it.
Result<Recovered> capture_from_controller(Source& source, const Result<std::unique_ptr<git::GitProgram>>& git,
                                          const Seal& seal, const RecoveryRequest& request);

}  // namespace cofferdam::recovery
