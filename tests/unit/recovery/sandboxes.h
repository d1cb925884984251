// A sandbox to capture from: a directory of this machine, reached through child processes, whose source tells what is
// done to it and can be made to fail at any point. The transfer is real; that it is local is the only pretence.
#pragma once

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "git/bounded_process.h"
#include "git/hardened_git.h"
#include "recovery/command_source.h"
#include "recovery/failure.h"
#include "recovery/process_transport.h"
#include "recovery/recover.h"
#include "system/tree.h"
#include "workspace/inventory.h"

namespace cofferdam::recovery {

inline std::string shell(const std::string& directory, const std::string& script) {
  const auto output = git::run_bounded(
      {.command = {"/bin/sh", "-ec", script},
       .environment = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
                       "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
                       "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_COUNT=1",
                       "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always", "LC_ALL=C"},
       .working_directory = directory,
       .output_limit = 1U << 20,
       .error_limit = 1U << 16});
  EXPECT_TRUE(output) << output.error().to_string();
  if (!output) return "";
  EXPECT_EQ(output->exit_code, 0) << script << "\n" << output->standard_error;
  return output->standard_output;
}

// An execution that was written beforehand.
class ScriptedExecution final : public Execution {
 public:
  ScriptedExecution(std::string output, ExecOutcome outcome)
      : output_(std::move(output)), outcome_(std::move(outcome)) {}
  Result<std::size_t> read(char* buffer, std::size_t size) override {
    const std::size_t count = output_.copy(buffer, size);
    output_.erase(0, count);
    return count;
  }
  Result<ExecOutcome> finish() override { return outcome_; }

 private:
  std::string output_;
  ExecOutcome outcome_;
};

class WatchedSource final : public Source {
 public:
  WatchedSource(Transport& transport, std::string root) : real_(transport, std::move(root)) {}

  Result<std::vector<SourceEntry>> inventory(const workspace::PathSet& exclude) override {
    ++inventories;
    return real_.inventory(exclude);
  }
  Result<std::string> read(const std::string& path, std::uint64_t offset, std::size_t length) override {
    return real_.read(path, offset, length);
  }
  Result<std::unique_ptr<Execution>> stream(const workspace::PathSet& exclude) override {
    ++streams;
    if (before_stream) before_stream(streams);
    ASSIGN_OR_RETURN(auto stream, real_.stream(exclude));
    if (!alter_stream) return stream;
    ASSIGN_OR_RETURN(ExecResult all, collect(*stream, std::size_t{1} << 30));
    alter_stream(streams, all);
    return std::make_unique<ScriptedExecution>(std::move(all.output), std::move(all.outcome));
  }
  Result<std::unique_ptr<Execution>> exec(const ExecRequest& request) override {
    std::string words;
    for (const std::string& word : request.command) words += word + " ";
    commands.push_back(words);
    if (answer) {
      if (auto outcome = answer(words)) return std::make_unique<ScriptedExecution>(outcome->output, outcome->outcome);
    }
    return real_.exec(request);
  }
  const std::string& root() const override { return real_.root(); }

  int inventories = 0;
  int streams = 0;
  std::vector<std::string> commands;  // of exec()
  std::function<void(int number)> before_stream;
  std::function<void(int number, ExecResult&)> alter_stream;
  std::function<std::optional<ExecResult>(const std::string& words)> answer;

 private:
  CommandSource real_;
};

class CountedGit final : public git::GitProgram {
 public:
  CountedGit(int& runs, std::function<void()> before) : runs_(runs), before_(std::move(before)) {}
  Result<git::GitOutput> run(const git::GitCommand& command) override {
    ++runs_;
    if (before_) before_();
    auto program = git::find_git();
    if (!program) return program.error();
    return git::HardenedGit(*program).run(command);
  }

 private:
  int& runs_;
  std::function<void()> before_;
};

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    auto place = system::TemporaryDirectory::create("/tmp", "cofferdam-recovery-test-");
    ASSERT_TRUE(place);
    place_.emplace(*std::move(place));
    shell(place_->path(), "mkdir w scratch");
    source_.emplace(transport_, root());
    request_.scratch = path("scratch");
    request_.name = "test";
  }

  std::string path(const std::string& name) const { return place_->path() + "/" + name; }
  std::string root() const { return path("w"); }
  std::string in_sandbox(const std::string& script) const { return shell(root(), script); }
  // A commit, something staged, something untracked.
  void make_repository() const {
    in_sandbox(
        "git init -q -b main . && echo a >a && git add a && git commit -qm one && echo s >staged && git add staged && "
        "echo u >untracked");
  }

  // The disk of the sandbox is full when `word` is written.
  void fill_disk_at(const std::string& word, const std::string& message = "No space left on device") {
    source_->answer = [word, message](const std::string& words) -> std::optional<ExecResult> {
      if (!words.contains(word)) return std::nullopt;
      const std::string said = "dd: error writing '/w/x': " + message + "\n";
      if (word == "capture.sh") return ExecResult{.outcome = {.exit_code = 1, .error_text = said}, .output = {}};
      return ExecResult{.outcome = {.exit_code = 0, .error_text = "tar: write error\n"},
                        .output = said + "tar 141\ndd 1\n"};
    };
  }

  Result<Recovered> save() {
    const std::string before = in_sandbox("find . -mindepth 1 -printf '%P %y %m %s %T@ %i %l\\n' | sort");
    const Result<std::unique_ptr<git::GitProgram>> git =
        std::unique_ptr<git::GitProgram>(std::make_unique<CountedGit>(git_runs_, before_git_));
    auto saved =
        save_from_sandbox(*source_, git, [this](const SealRequest& request) { return seal(request); }, request_);
    if (must_stay_) {
      EXPECT_EQ(in_sandbox("find . -mindepth 1 -printf '%P %y %m %s %T@ %i %l\\n' | sort"), before);
    }
    EXPECT_EQ(shell(path("scratch"), "ls -A"), "") << "staging was left";
    return saved;
  }

  // What a refused save must look like: its code, no receipt, nothing left.
  void expect_refused(Failure failure, const std::string& why) {
    const auto saved = save();
    ASSERT_FALSE(saved) << why;
    EXPECT_THAT(saved.error().message(), testing::StartsWith(std::string(name_of(failure)) + ": ")) << why;
    EXPECT_FALSE(committed_) << why;
  }

  // Stands for the durable save: it looks at what it is given, and commits when it may.
  Result<snapshot::CaptureReport> seal(const SealRequest& request) {
    if (seal_error_) return *seal_error_;
    auto root = system::open_directory(request.directory);
    if (!root) return root.error();
    ASSIGN_OR_RETURN(saved_, workspace::take_inventory(root->get(), {}));
    saved_owner_ = shell(request.directory, "find . -printf '%U\\n' | sort -u");
    omitted_ = request.omissions;
    snapshot::CaptureReport report{.snapshot = "snap", .fingerprint = workspace::fingerprint_of(saved_.entries)};
    for (const workspace::Entry& entry : saved_.entries) {
      report.files += entry.kind == workspace::EntryKind::kFile ? 1 : 0;
    }
    if (request.before_commit) RETURN_IF_ERROR(request.before_commit(report.fingerprint));
    committed_ = true;
    return report;
  }

  const workspace::Entry* saved_entry(const std::string& name) const {
    return workspace::find_entry(saved_.entries, name);
  }

  std::optional<system::TemporaryDirectory> place_;
  ProcessTransport transport_{{"env"}, {"PATH=/usr/bin:/bin"}};
  std::optional<WatchedSource> source_;
  RecoveryRequest request_;
  std::optional<Error> seal_error_;
  std::function<void()> before_git_;
  bool must_stay_ = true;  // the sandbox, but for what the test itself does to it
  int git_runs_ = 0;
  bool committed_ = false;
  workspace::Inventory saved_;
  std::string saved_owner_;
  std::vector<workspace::Omission> omitted_;
};

}  // namespace cofferdam::recovery
