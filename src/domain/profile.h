// What each known agent needs, one entry per agent: hosts, environment, files in the home directory.
// To add a profile, add one entry to the table in profile.cc.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "domain/policy.h"

namespace cofferdam::domain {

struct Profile {
  struct Setting {
    std::string_view name;
    std::string_view value;
  };
  // A file or directory that an agent reads as settings, hooks, MCP servers or instructions: read-only, because what
  // is written there runs unconfined the next time.
  struct Guarded {
    std::string_view path;  // below its directory
    bool is_directory = false;
    bool stays_absent = false;  // see PathGrant::Placeholder::kAbsence
  };
  // A directory of the home that the agent keeps its state in.
  struct HomeDirectory {
    std::string_view path;      // below the home directory
    std::string_view variable;  // when the caller has set it, it names the directory instead; may be empty
    std::span<const Guarded> guarded;
    std::string_view below = {};  // the directory below what `variable` names; empty when it is that itself
  };
  // Defaults that the program reads from a place of the system's: they switch off what the environment cannot.
  struct SystemFile {
    std::string_view path;
    std::string_view content;
  };

  std::string_view name;   // "claude_local"
  std::string_view title;  // "Claude"
  std::span<const std::string_view> hosts;
  std::span<const std::string_view> pass;          // environment keys taken from the caller
  std::span<const std::string_view> ca_variables;  // naming a file with extra certificates: passed, file readable
  std::span<const Setting> set;                    // switches that stop background calls
  std::span<const HomeDirectory> directories;
  std::span<const std::string_view> copied_files;  // files in the home itself; when the first directory is moved, in it
  std::span<const SystemFile> system_files = {};
  bool nested_sandboxes = false;
  bool refuses_root = false;  // exits when it sees uid 0 unless IS_SANDBOX=1
};

std::span<const Profile> profiles();

// Error with the known names when there is none of that name.
Result<const Profile*> find_profile(std::string_view name);

}  // namespace cofferdam::domain
