#include "recovery/command_source.h"

#include "base/strings.h"
#include "recovery/failure.h"
#include "recovery/listing.h"
#include "workspace/patterns.h"

namespace cofferdam::recovery {
namespace {

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

// Names from the root without "./", so that anchored exclusions fit; `exec` lets the caller see how tar ended.
constexpr const char* kStreamScript =
    R"(cd -- "$1" && shift && find . -mindepth 1 -maxdepth 1 -printf '%P\0' | exec tar "$@")";

Error unusable(const std::string& program, const ExecOutcome& outcome) {
  const std::string_view words = trimmed(outcome.error_text);
  const std::string said = words.empty() ? "exit code " + std::to_string(outcome.exit_code) : printable(words);
  const bool missing = outcome.exit_code == kCannotExecute || outcome.exit_code == kNotFound ||
                       words.contains("unrecognized") || words.contains("unknown predicate");
  return failure(missing ? Failure::kExportUnsupported : Failure::kSourceUnreadable, program + ": " + said);
}

}  // namespace

std::vector<std::string> in_plain_english(std::vector<std::string> command) {
  command.insert(command.begin(), {"env", "LC_ALL=C"});
  return command;
}

std::vector<std::string> tar_arguments(const workspace::PathSet& exclude) {
  std::vector<std::string> words = {
      "--create",           "--file=-",    "--format=pax", "--numeric-owner", "--one-file-system",
      "--hard-dereference", "--no-xattrs", "--no-acls",    "--no-selinux",    "--warning=no-file-ignored"};
  workspace::ExcludeRules rules;
  for (const std::string& path : exclude.paths()) rules.add_literal(path);
  for (std::string& word : workspace::tar_exclude_arguments(rules)) words.push_back(std::move(word));
  words.insert(words.end(), {"--null", "--verbatim-files-from", "--files-from=-"});
  return words;
}

Result<ExecResult> CommandSource::look(std::vector<std::string> command, std::size_t limit) {
  const std::string program = command.front();
  ASSIGN_OR_RETURN(
      const auto execution,
      transport_.start({.command = in_plain_english(std::move(command)), .input = {}, .timeout = times_.look}));
  ASSIGN_OR_RETURN(ExecResult result, collect(*execution, limit));
  if (result.outcome.exit_code != 0) return unusable(program, result.outcome);
  return result;
}

Result<std::vector<SourceEntry>> CommandSource::inventory(const workspace::PathSet& exclude) {
  ASSIGN_OR_RETURN(const ExecResult result, look(listing_command(root_, exclude), kListingBytes));
  return parse_listing(result.output);
}

Result<std::string> CommandSource::read(const std::string& path, std::uint64_t offset, std::size_t length) {
  ASSIGN_OR_RETURN(ExecResult result,
                   look({"dd", "if=" + root_ + "/" + path, "iflag=nonblock,nofollow,skip_bytes,count_bytes,fullblock",
                         "skip=" + std::to_string(offset), "count=" + std::to_string(length), "bs=64K", "status=none"},
                        length));
  return std::move(result.output);
}

Result<std::unique_ptr<Execution>> CommandSource::stream(const workspace::PathSet& exclude) {
  std::vector<std::string> command = {"sh", "-c", kStreamScript, "sh", root_};
  for (std::string& word : tar_arguments(exclude)) command.push_back(std::move(word));
  return transport_.start({.command = in_plain_english(std::move(command)), .input = {}, .timeout = times_.stream});
}

}  // namespace cofferdam::recovery
