// Commands in a sandbox that is reached by starting a program here: `docker exec -i NAME`, `kubectl exec -i POD --`,
// `nsenter … --`, or `env` for a directory of this machine.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "recovery/source.h"

namespace cofferdam::recovery {

// The words of a command are appended to those of `prefix`; no shell is between them. Thread-safe.
class ProcessTransport final : public Transport {
 public:
  // `prefix`: at least one word, looked up in the PATH of `environment` (NAME=VALUE), which is what the program gets.
  ProcessTransport(std::vector<std::string> prefix, std::vector<std::string> environment)
      : prefix_(std::move(prefix)), environment_(std::move(environment)) {}

  Result<std::unique_ptr<Execution>> start(const ExecRequest& request) override;

 private:
  std::vector<std::string> prefix_;
  std::vector<std::string> environment_;
};

}  // namespace cofferdam::recovery
