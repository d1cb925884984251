// The confinement plan: everything that will be done to confine one local command, as a plain value. Computed
// by make_plan() (planner.h), carried out by Sandbox (sandbox.h), shown by `cofferdam explain`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "domain/policy.h"

namespace cofferdam::confinement {

// Which file a path named when the plan was made. cofferdam-init compares it with what it finds mounted, so a
// path that was swapped for a symbolic link in between stops the run instead of opening the host.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct Mount {
  enum class Kind : std::uint8_t {
    kTmpfs,
    kProc,
    kDev,
    kDirectory,  // an empty directory in the throw-away root
    kSymlink,    // `source` is the link's text
    kReadOnly,
    kReadWrite,
    kData,             // `content` as a read-only file over one that exists
    kFile,             // `content` as a file of the throw-away root; costs a write, where a bind costs a mount
    kRemountReadOnly,  // the mount at `target` itself, not what is below it
  };
  Kind kind = Kind::kDirectory;
  std::string source;
  std::string target;
  std::string content;
  std::uint64_t size_bytes = 0;  // kTmpfs; 0 = the kernel's default
  mode_t mode = 0;               // kDirectory, kTmpfs; 0 = 0755
  std::string reason;            // one clause for `explain`
  std::optional<FileIdentity> identity;
  bool guards = false;  // keeps a part of a writable tree from the command, under whatever name it is reached
};

// What must exist on the host for a protected but absent path to be mounted over; made before the start and
// removed afterwards if it is still as it was made.
struct Placeholder {
  std::string path;
  bool is_directory = false;
  std::string content;  // of a file; programs on the host read it meanwhile
  mode_t mode = 0;      // 0 = 0755 or 0644
};

struct Identity {
  uid_t host_uid = 0;
  gid_t host_gid = 0;
  uid_t inside_uid = 0;
  gid_t inside_gid = 0;
  std::string user_name;     // inside
  bool switch_user = false;  // started by root: become host_uid before anything is confined
};

struct LandlockRule {
  std::string path;
  domain::Access access = domain::Access::kReadOnly;
};

struct LandlockPlan {
  int abi = 0;  // 0: not used
  std::vector<LandlockRule> rules;
  std::string reason;
};

struct SeccompPlan {
  bool nested_sandboxes = false;
};

// One limit and what enforces it.
struct PlannedLimit {
  enum class Means : std::uint8_t { kCgroupV2, kCgroupV1, kRlimit, kTmpfs, kTimer, kNone };
  std::string name;  // "memory", "pids", …: the key of the policy
  double value = 0;
  Means means = Means::kNone;
  bool requested = false;  // asked for, as opposed to a default of the product
  std::string remark;      // how it is weaker than asked for; empty when it is not
};

struct Listener {
  std::string payload;  // what the egress proxy is told: "proxy" or "direct HOST PORT"
  std::string address;  // "127.0.0.1" or "::1"
  std::uint16_t port = 0;
  bool required = true;  // otherwise a failure to bind is ignored (no IPv6 inside, for one)
};

struct PlannedVariable {
  std::string name;
  std::string value;
  std::string reason;
};

// A file of the home directory that is copied in and, if the host's is unchanged at the end, copied back.
struct HomeFile {
  std::string host_path;  // the file itself, no link to it
  std::string inside_path;
  std::vector<std::string> guarded_members;  // of the JSON in it: stay as the host has them (HomeFileCopy)
  bool covers = false;  // the host's own file would be seen at its place, so the copy is mounted over it
  std::optional<FileIdentity> identity;  // of the host's file; nothing when it does not exist yet
};

struct ConfinementPlan {
  std::string bubblewrap;  // absolute, trusted
  std::string init;        // cofferdam-init on the host
  std::vector<std::string> command;
  std::string working_directory;
  std::string workspace;

  domain::FilesystemScope filesystem = domain::FilesystemScope::kWorkspace;
  domain::NetworkScope network = domain::NetworkScope::kDeny;
  std::vector<domain::NetworkRule> allow;
  std::vector<domain::NetworkRule> deny;
  std::vector<Listener> listeners;

  Identity identity;
  mode_t umask = 022;         // the command's
  std::vector<Mount> mounts;  // in the order in which they are made
  std::vector<Placeholder> placeholders;
  std::vector<HomeFile> home_files;
  std::vector<std::string> kept_absent;  // what the run makes there, an agent would obey: set aside at the end
  bool nested_sandboxes = false;
  bool protect_proc_sys = false;  // kernel uid 0: /proc/sys would be writable by ownership
  SeccompPlan seccomp;
  LandlockPlan landlock;
  std::vector<PlannedLimit> limits;
  std::vector<PlannedVariable> environment;

  std::vector<std::string> restore_paths;  // changes below them belong to the result
  std::string git_config_lock;             // watched: something tried to change the protected Git configuration
  std::vector<std::string> notes;          // said once before the start
  std::vector<std::string> warnings;       // what will go wrong in the run, as far as is known; said by `explain`
  std::vector<Error> obstacles;            // why nothing can be started by this plan
  std::string announcement;
};

// The planned value of a limit; nothing when the plan does not limit it.
std::optional<double> limit_value(const ConfinementPlan& plan, std::string_view name);

bool has_placeholder(const ConfinementPlan& plan, std::string_view path);

inline constexpr std::string_view kInsideInit = "/run/cofferdam/cofferdam-init";
inline constexpr std::uint16_t kProxyPort = 31337;

}  // namespace cofferdam::confinement
