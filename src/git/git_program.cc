#include "git/git_program.h"

#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::size_t kMostWords = 2000;  // bytes of git's own words that an error repeats

}  // namespace

Result<std::string> run_successfully(GitProgram& git, const GitCommand& command) {
  ASSIGN_OR_RETURN(GitOutput output, git.run(command));
  if (output.exit_code != 0) return git_failure(command, output);
  return std::move(output.standard_output);
}

Error git_failure(const GitCommand& command, const GitOutput& output) {
  const std::string verb = command.arguments.empty() ? "" : " " + command.arguments.front();
  const std::string_view words = trimmed(output.standard_error);
  const std::string said =
      words.empty() ? "exit code " + std::to_string(output.exit_code) : printable(words.substr(0, kMostWords));
  return Error(ErrorCode::kFailedPrecondition, "git" + verb + " failed: " + said);
}

}  // namespace cofferdam::git
