// What a run may do, as one value. Both policy surfaces (our flags and file, Paperclip's adapter keys) produce
// it; the confinement plan is computed from it and the facts of the host. Paths are absolute and lexically
// normalised (path.h); nothing here has looked at the file system.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/network_rule.h"

namespace cofferdam::domain {

enum class FilesystemScope : std::uint8_t {
  kWorkspace,  // a fresh root: the workspace, the system's tools and what was granted
  kHost,       // the host's file system with the caller's rights
};

enum class NetworkScope : std::uint8_t {
  kDeny,       // loopback of the sandbox only
  kAllowlist,  // through the egress proxy, by rule
  kOpen,       // the host's network
};

enum class Access : std::uint8_t { kReadOnly, kReadWrite };

struct PathGrant {
  // What stands in for an absent read-only path below a writable one, so that the command cannot create it.
  // kAbsence: nothing can, programs would take it for the file; what a run makes there is set aside at its end.
  enum class Placeholder : std::uint8_t { kNone, kFile, kDirectory, kAbsence };

  std::string path;
  Access access = Access::kReadOnly;
  std::string origin;     // who asked: "--ro", "profile claude_local", "filesystemExtraPaths[1]"
  bool optional = false;  // absent on the host: left out silently (a profile's path), otherwise an error
  Placeholder placeholder = Placeholder::kNone;

  bool operator==(const PathGrant&) const = default;
};

// Shows a directory of the workspace at another absolute path, read-write.
struct PathAlias {
  std::string path;
  std::string target;

  bool operator==(const PathAlias&) const = default;
};

// A file of the caller's home that is copied into the private home and, when the run ends and the host's file
// is unchanged, copied back.
struct HomeFileCopy {
  std::string name;  // relative to the home directory, or absolute
  // Members of a JSON file that name programs to start or permissions given: they come home as the host has them.
  // Dotted, `*` for any member: "projects.*.mcpServers". With none, the file comes home as it is.
  std::vector<std::string> guarded_members;
  bool operator==(const HomeFileCopy&) const = default;
};

// A file of the system's that the sandbox has where the host has none: defaults of a program.
struct SystemFile {
  std::string path;
  std::string content;
  std::string origin;
  bool operator==(const SystemFile&) const = default;
};

// Absent = the default of the product (for pids, tmpfs size) or no limit. A limit that was asked for and cannot
// be enforced on this machine makes the run fail; a default one degrades with a word.
struct Limits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> pids;
  std::optional<double> cpus;  // 1.5 = one and a half processors
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> file_size_bytes;
  std::optional<std::uint64_t> tmpfs_bytes;
  std::optional<std::chrono::milliseconds> wall_clock;
  std::optional<std::chrono::seconds> cpu_time;

  bool operator==(const Limits&) const = default;
};

struct EnvironmentVariable {
  std::string name;
  std::string value;
  bool operator==(const EnvironmentVariable&) const = default;
};

struct Variables {
  std::vector<std::string> pass;         // names taken from the caller's environment when set there
  std::vector<EnvironmentVariable> set;  // later entries win
  bool operator==(const Variables&) const = default;
};

struct Policy {
  std::string workspace;
  std::string working_directory;  // inside the workspace when the file system scope is kWorkspace
  FilesystemScope filesystem = FilesystemScope::kWorkspace;
  NetworkScope network = NetworkScope::kDeny;

  std::vector<PathGrant> grants;
  std::vector<std::string> restore_paths;
  std::vector<std::string> protect;  // absolute, inside the workspace; read-only for the command
  std::vector<PathAlias> aliases;

  std::vector<NetworkRule> allow;
  std::vector<NetworkRule> deny;  // win over allow

  Limits limits;
  Variables variables;

  std::vector<std::string> profiles;  // names, for messages and the plan
  std::string home;                   // the caller's or the configured home directory; empty = look it up
  std::vector<PathGrant> home_paths;  // paths below home that the profiles bind, settings files read-only
  std::vector<HomeFileCopy> home_files;
  std::vector<SystemFile> system_files;  // in the workspace scope only

  std::string bubblewrap = "bwrap";  // name or absolute path
  bool allow_home_as_workspace = false;
  bool nested_sandboxes = false;
  bool git_config_writable = false;
  bool agent_settings_writable = false;
  std::string announcement;  // one line for stderr before the start, e.g. Paperclip's "Confining …"

  bool operator==(const Policy&) const = default;
};

}  // namespace cofferdam::domain
