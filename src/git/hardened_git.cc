#include "git/hardened_git.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "base/unique_fd.h"
#include "domain/path.h"
#include "git/bounded_process.h"
#include "system/file.h"

namespace cofferdam::git {
namespace {

constexpr std::array<std::string_view, 3> kGitPlaces = {"/usr/bin/git", "/usr/local/bin/git", "/bin/git"};

// Each closes one way from a repository to a command or to somebody else's files.
constexpr std::array<std::string_view, 17> kSettings = {
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.untrackedCache=false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
};

constexpr std::array<std::string_view, 11> kEnvironment = {
    "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
    "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",        "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_ASKPASS=false",     "GIT_SSH_COMMAND=false",       "LC_ALL=C",
    "HOME=/nonexistent",     "PATH=/usr/bin:/bin",
};

}  // namespace

std::vector<std::string> hardened_arguments(const GitCommand& command) {
  std::vector<std::string> out = {"--no-pager", "--no-optional-locks", "--literal-pathspecs"};
  const auto set = [&](std::string setting) {
    out.emplace_back("-c");
    out.push_back(std::move(setting));
  };
  for (const std::string_view setting : kSettings) set(std::string(setting));
  set("safe.directory=" + command.repository);
  out.insert(out.end(), command.arguments.begin(), command.arguments.end());
  return out;
}

std::vector<std::string> hardened_environment(const GitCommand& command) {
  std::vector<std::string> out(kEnvironment.begin(), kEnvironment.end());
  // Not searched for a repository above the one that was named.
  out.push_back("GIT_CEILING_DIRECTORIES=" + domain::parent_of(command.repository));
  out.insert(out.end(), command.environment.begin(), command.environment.end());
  return out;
}

Result<std::string> find_git() {
  for (const std::string_view place : kGitPlaces) {
    if (::access(std::string(place).c_str(), X_OK) == 0) return std::string(place);
  }
  return Error(ErrorCode::kFailedPrecondition, "This needs the program git, which is not installed")
      .with_hint("On Debian and Ubuntu: apt-get install git. It is looked up in the system's own directories only.");
}

Result<GitOutput> run_hardened(std::vector<std::string> launcher, const GitCommand& command) {
  BoundedProcess process{.command = std::move(launcher),
                         .environment = hardened_environment(command),
                         .working_directory = command.repository,
                         .standard_input = command.input_file,
                         .timeout = command.timeout,
                         .output_limit = command.output_limit,
                         .error_limit = kGitErrorBytes};
  const std::vector<std::string> arguments = hardened_arguments(command);
  process.command.insert(process.command.end(), arguments.begin(), arguments.end());
  UniqueFd input;
  if (command.input_file < 0 && !command.input.empty()) {
    ASSIGN_OR_RETURN(input, system::memory_file("git-input", command.input));
    process.standard_input = input.get();
  }
  ASSIGN_OR_RETURN(ProcessOutput output, run_bounded(process));
  return GitOutput{.exit_code = output.exit_code,
                   .standard_output = std::move(output.standard_output),
                   .standard_error = std::move(output.standard_error)};
}

}  // namespace cofferdam::git
