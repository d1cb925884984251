// A workspace reached with nothing but commands: sh, dd, GNU find and GNU tar, which write nothing. Nothing is
// installed and no disk is used in the sandbox.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "recovery/source.h"

namespace cofferdam::recovery {

struct SourceTimes {
  std::chrono::milliseconds look{120'000};      // of a listing or a read
  std::chrono::milliseconds stream{3'600'000};  // of one pass over everything
};

// `transport` must live as long.
class CommandSource final : public Source {
 public:
  // `root`: absolute path in the sandbox.
  CommandSource(Transport& transport, std::string root, SourceTimes times = {})
      : transport_(transport), root_(std::move(root)), times_(times) {}

  Result<std::vector<SourceEntry>> inventory(const workspace::PathSet& exclude) override;
  Result<std::string> read(const std::string& path, std::uint64_t offset, std::size_t length) override;
  Result<std::unique_ptr<Execution>> stream(const workspace::PathSet& exclude) override;
  Result<std::unique_ptr<Execution>> exec(const ExecRequest& request) override { return transport_.start(request); }
  const std::string& root() const override { return root_; }

 private:
  Result<ExecResult> look(std::vector<std::string> command, std::size_t limit);

  Transport& transport_;
  std::string root_;
  SourceTimes times_;
};

// argv that runs `command` with messages in English, which are compared.
std::vector<std::string> in_plain_english(std::vector<std::string> command);

// The tar words for a stream of the workspace, behind which the names to pack come on standard input.
std::vector<std::string> tar_arguments(const workspace::PathSet& exclude);

}  // namespace cofferdam::recovery
