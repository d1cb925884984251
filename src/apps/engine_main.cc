// cofferdam-engine: the whole command line. Started by cofferdam when a verb needs the store.
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "control/snapshots.h"
#include "system/standard_descriptors.h"

namespace {

std::map<std::string, std::string, std::less<>> environment() {
  std::map<std::string, std::string, std::less<>> out;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text(*each);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cofferdam;
  system::fill_standard_descriptors();
  const auto snapshots = control::make_snapshots(environment());
  const cli::Program program{.version = COFFERDAM_VERSION,
                             .services = {.run_local = control::run_local,
                                          .explain_local = control::explain_local,
                                          .examine_host = control::examine_host,
                                          .read_decisions = control::read_decisions,
                                          .snapshots = snapshots.get(),
                                          .run_with_workspace = control::run_with_workspace,
                                          .plan_sync = control::plan_sync,
                                          .become_engine = nullptr}};
  cli::StandardConsole console;
  return cli::run_program(program, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), console);
}
