#include "control/doctor_probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <vector>

#include "base/scope_exit.h"
#include "base/strings.h"
#include "control/local_run.h"
#include "domain/outcome.h"
#include "system/child_process.h"
#include "system/file.h"

namespace cofferdam::control {
namespace {

constexpr std::size_t kVersionBytes = 4096;

class FirstFailure final : public Messages {
 public:
  explicit FirstFailure(ProbeResult& result) : result_(result) {}
  void note(std::string_view) override {}
  void failure(const Error& error) override {
    if (!result_.error.empty()) return;
    result_.error = error.to_string();
    result_.hint = error.hint();
  }

 private:
  ProbeResult& result_;
};

ProbeResult probe(domain::NetworkScope network) {
  ProbeResult result;
  std::string workspace = "/tmp/cofferdam-doctor.XXXXXX";
  if (::mkdtemp(workspace.data()) == nullptr) return {.error = "no temporary directory can be made", .hint = ""};
  const ScopeExit remove([&] { ::rmdir(workspace.c_str()); });
  LocalRunRequest request;
  request.policy.workspace = workspace;
  request.policy.network = network;
  if (network == domain::NetworkScope::kAllowlist) {
    if (auto rule = domain::parse_network_rule("cofferdam.invalid")) request.policy.allow.push_back(*rule);
  }
  request.command = {"true"};
  FirstFailure messages(result);
  const domain::Outcome outcome = run_local(request, messages);
  result.worked = outcome.kind == domain::Outcome::Kind::kExited && outcome.value == 0;
  if (!result.worked && result.error.empty())
    result.error = "the command ended with " + std::string(to_string(outcome.kind));
  return result;
}

}  // namespace

ProbeResult probe_confined_run() {
  return probe(domain::NetworkScope::kDeny);
}

ProbeResult probe_loopback() {
  return probe(domain::NetworkScope::kAllowlist);
}

std::string program_version(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  auto child = system::ChildProcess::spawn({.program = program,
                                            .arguments = {program, "--version"},
                                            .environment = {},
                                            .descriptors = {-1, writer.get(), -1}});
  writer.reset();
  if (!child) return "";
  const auto text = system::read_up_to(reader.get(), kVersionBytes);
  return text ? printable(trimmed(text->substr(0, text->find('\n')))) : "";
}

bool is_new_enough_bubblewrap(std::string_view version) {
  constexpr std::uint64_t kMinor = 8;
  const std::size_t space = version.rfind(' ');
  const std::vector<std::string_view> parts =
      split(version.substr(space == std::string_view::npos ? 0 : space + 1), '.');
  if (parts.size() < 2) return true;
  const auto major = parse_decimal(parts[0]);
  const auto minor = parse_decimal(parts[1]);
  return !major || !minor || *major > 0 || *minor >= kMinor;
}

}  // namespace cofferdam::control
