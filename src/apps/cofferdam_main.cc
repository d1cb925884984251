// cofferdam: what users call. It starts quickly, because `run` is called often; what needs the libraries of the store
// is done by cofferdam-engine, the same command line with all of it.
#include <string>
#include <vector>

#include "cli/cli.h"
#include "control/engine.h"
#include "system/standard_descriptors.h"

int main(int argc, char** argv) {
  using namespace cofferdam;
  system::fill_standard_descriptors();
  static char** const kArguments = argv;
  const cli::Program program{.version = COFFERDAM_VERSION,
                             .services = {.run_local = control::run_local,
                                          .explain_local = control::explain_local,
                                          .examine_host = control::examine_host,
                                          .read_decisions = control::read_decisions,
                                          .snapshots = nullptr,
                                          .become_engine = [] { return control::become_engine(kArguments); }}};
  cli::StandardConsole console;
  return cli::run_program(program, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), console);
}
