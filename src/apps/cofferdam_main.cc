#include <string>
#include <vector>

#include "cli/cli.h"
#include "system/standard_descriptors.h"

int main(int argc, char** argv) {
  using namespace cofferdam;
  system::fill_standard_descriptors();
  const cli::Program program{.version = COFFERDAM_VERSION,
                             .services = {.run_local = control::run_local,
                                          .explain_local = control::explain_local,
                                          .examine_host = control::examine_host,
                                          .read_decisions = control::read_decisions}};
  cli::StandardConsole console;
  return cli::run_program(program, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), console);
}
