#include <boost/json.hpp>

#include "cli/json_text.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_version(const Invocation& invocation) {
  const std::string version(invocation.program.version);
  if (invocation.arguments.value("output") == "json") {
    invocation.console.out(pretty(boost::json::object{{"name", "cofferdam"}, {"version", version}}));
  } else {
    invocation.console.out("cofferdam " + version + "\n");
  }
  return kExitSuccess;
}

}  // namespace cofferdam::cli
