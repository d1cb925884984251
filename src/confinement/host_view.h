// What planning may ask about the host. The planner sees only this interface, so that a plan is a pure function
// of the policy and of answers that a test can give.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "confinement/plan.h"

namespace cofferdam::confinement {

struct PathFact {
  enum class Type : std::uint8_t { kFile, kDirectory, kSymlink, kPipe, kSocket, kDevice, kOther };
  Type type = Type::kOther;
  FileIdentity identity;
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;  // permission bits
};

enum class CgroupMode : std::uint8_t {
  kNone,  // nothing that this caller may use
  kV1,    // the controllers' own hierarchies, writable (root)
  kV2,    // a delegated sub-tree of the unified hierarchy
};

struct CgroupFacts {
  CgroupMode mode = CgroupMode::kNone;
  std::map<std::string, std::string> directories;  // controller → the caller's own directory in it
  std::string detail;                              // why not more
};

struct AccountFact {
  std::string name;
  std::string home;
};

// Facts that hold for the whole process; read once.
struct HostFacts {
  uid_t euid = 0;
  gid_t egid = 0;
  std::map<std::string, std::string> environment;  // the caller's
  std::string init_program;                        // cofferdam-init beside this program
  std::string state_directory;                     // Cofferdam's own records of this user's runs
  int landlock_abi = 0;
  CgroupFacts cgroups;
};

class HostView {
 public:
  virtual ~HostView() = default;
  virtual const HostFacts& facts() const = 0;
  virtual std::optional<PathFact> inspect(const std::string& path) const = 0;  // no follow of the last component
  virtual std::optional<PathFact> follow(const std::string& path) const = 0;
  // Of the file that the path names without any symbolic link on the way; nothing when there is one.
  virtual std::optional<PathFact> inspect_without_links(const std::string& path) const = 0;
  virtual std::optional<std::string> real_path(const std::string& path) const = 0;
  virtual std::optional<std::string> read_link(const std::string& path) const = 0;
  // At most `limit` names, in any order; empty when it cannot be read.
  virtual std::vector<std::string> list(const std::string& directory, std::size_t limit) const = 0;
  // At most `limit` bytes from the start; never follows a link in the last component.
  virtual std::optional<std::string> read_file(const std::string& path, std::size_t limit) const = 0;
  virtual std::optional<AccountFact> account(uid_t uid) const = 0;
};

}  // namespace cofferdam::confinement
