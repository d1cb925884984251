// The contract that every provider of sandboxes answers.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"
#include "base/result.h"
#include "domain/egress_grant.h"
#include "domain/moment.h"
#include "domain/outcome.h"
#include "domain/policy.h"
#include "provider/capabilities.h"
#include "provider/config_check.h"
#include "provider/execution_io.h"

namespace cofferdam::provider {

using Json = boost::json::object;

struct Description {
  std::string key;                       // as in environments: "fake-plugin"
  std::vector<std::string> short_names;  // what our commands accept besides: "fake"
  std::string display_name;
  std::string summary;  // one sentence
  Json config_schema;   // JSON Schema, draft 7; secret fields have "format": "secret-ref"
  Capabilities capabilities;
};

// On whose behalf and with which settings a call is made.
struct Call {
  std::string company;
  std::string environment;  // its id; "unsaved" when a configuration is tried before it is stored
  Json config;              // normalised by validate(), secrets in plain; unknown keys are ignored
};

struct ProbeReport {
  struct Finding {
    enum class Severity : std::uint8_t { kInfo, kWarning, kError };
    Severity severity = Severity::kInfo;
    std::string message;
    std::string code;  // for programs; may be empty
  };
  bool ok = false;
  std::string summary;  // one sentence
  std::vector<Finding> findings;
  Json metadata;
};

struct AcquireRequest {
  std::string run;      // id of the run, or of the attempt when there is none
  std::string attempt;  // recorded before this call: labels the sandbox, so that a lost answer can be found by it
  std::string agent;
  std::string adapter;                       // "claude_local", …; empty when unknown
  std::string execution_workspace;           // id; may be empty
  domain::EgressGrant grant;                 // kUnsupported from a provider that cannot enforce it
  std::optional<domain::Moment> expires_at;  // the sandbox must be gone by then
};

struct Lease {
  std::string id;  // the provider's own
  Json metadata;   // "remoteCwd", "shellCommand", … and what later calls of this provider need
  std::optional<domain::Moment> expires_at;
};

// A lease as later calls name it.
struct LeaseRef {
  std::string id;
  Json metadata;
};

struct Resumed {
  enum class Kind : std::uint8_t { kResumed, kGone };  // kGone only when it is certain
  Kind kind = Kind::kGone;
  Lease lease;         // kResumed
  std::string reason;  // kGone: "expired", "not_found", "identity_mismatch"
};

// Given only after the back end has confirmed that nothing runs any more.
struct Termination {
  enum class State : std::uint8_t { kStopped, kDestroyed };
  State state = State::kDestroyed;
};

struct EndRequest {
  bool cancel_active_work = false;  // stop what runs instead of waiting for it
};

struct Realised {
  std::string directory;  // absolute, exists
  Json metadata;
};

struct ExecuteRequest {
  std::string id;                    // ours; one id is started at most once
  std::vector<std::string> command;  // argv; any bytes but NUL; never empty
  std::string directory;             // empty: the lease's remoteCwd
  std::vector<domain::EnvironmentVariable> environment;
  std::optional<std::chrono::milliseconds> timeout;  // the tree is ended and the outcome is kTimedOut
  bool has_input = false;                            // otherwise input is at its end at once
  struct Terminal {
    std::uint16_t rows = 24;
    std::uint16_t columns = 80;
  };
  std::optional<Terminal> terminal;
};

struct Mapping {
  std::string source;  // absolute; sync_in: on the host, sync_out: in the sandbox
  std::string target;  // absolute, on the other side
  bool is_directory = false;
  std::optional<std::uint32_t> mode;  // POSIX bits that the target has at the end
  std::vector<std::string> exclude;   // patterns, see workspace/patterns.h
  bool follow_links = false;
};

struct SyncOperation {
  std::string id;
  std::vector<Mapping> mappings;
  struct After {
    std::string command;    // for the lease's shell, word for word
    std::string directory;  // empty: remoteCwd
    std::optional<std::chrono::milliseconds> timeout;
  };
  std::vector<After> after;  // sync_in only; in order, the first failure ends the call
};

struct SyncReport {
  struct Count {
    std::string operation;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Count> operations;
};

struct FoundSandbox {
  std::string id;       // a provider lease id
  std::string attempt;  // AcquireRequest::attempt; empty when it cannot be told
  std::optional<domain::Moment> created_at;
};

// Thread: the loop's. Calls of different leases, and several executions of one, run beside each other. A cancelled call
// returns kCancelled as soon as it can; what it had begun at the back end may exist. Errors carry a RetryClass; their
// texts are shown to operators and hold no secret. Nothing that a later call needs lives in the object: a restarted
// program calls with the id and the metadata alone.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual const Description& describe() const = 0;
  // Pure: no call to anywhere. A secret field may hold the text or the id of a stored secret.
  virtual ConfigCheck validate(const Json& config) const = 0;
  virtual async::Task<Result<ProbeReport>> probe(Call call) = 0;

  virtual async::Task<Result<Lease>> acquire(Call call, AcquireRequest request) = 0;
  // Both are repeatable; a sandbox that is gone is success. release() of a reusable lease keeps it for resume().
  virtual async::Task<Result<Termination>> release(Call call, LeaseRef lease, EndRequest request) = 0;
  virtual async::Task<Result<Termination>> destroy(Call call, LeaseRef lease, EndRequest request) = 0;
  // Makes the workspace's directory exist; moves no content.
  virtual async::Task<Result<Realised>> realise(Call call, LeaseRef lease, std::string directory) = 0;
  // How the command ended. An error means that nobody knows whether it began; kNotFound: the lease is gone.
  virtual async::Task<Result<domain::Outcome>> execute(Call call, LeaseRef lease, ExecuteRequest request,
                                                       ExecutionIo& io) = 0;

  // --- by capability; the base class answers kUnsupported
  virtual async::Task<Result<Resumed>> resume(Call call, LeaseRef lease);
  virtual async::Task<Status> pause(Call call, LeaseRef lease);
  // Follows an execution again, from byte `from` of its output (both streams in order of arrival). kNotFound when the
  // provider knows nothing of it any more.
  virtual async::Task<Result<domain::Outcome>> attach(Call call, LeaseRef lease, std::string execution,
                                                      std::uint64_t from, ExecutionIo& io);
  virtual async::Task<Status> signal(Call call, LeaseRef lease, std::string execution, int number);
  virtual async::Task<Status> resize(Call call, LeaseRef lease, std::string execution, ExecuteRequest::Terminal size);
  virtual async::Task<Result<SyncReport>> sync_in(Call call, LeaseRef lease, std::vector<SyncOperation> operations);
  virtual async::Task<Result<SyncReport>> sync_out(Call call, LeaseRef lease, std::vector<SyncOperation> operations);
  // Every sandbox of this provider that the configuration can see, all pages.
  virtual async::Task<Result<std::vector<FoundSandbox>>> list(Call call);
};

}  // namespace cofferdam::provider
