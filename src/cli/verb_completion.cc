#include "cli/completion.h"
#include "cli/verb.h"

namespace cofferdam::cli {

int run_completion(const Invocation& invocation) {
  const std::string& shell = invocation.arguments.positionals.front();
  if (shell == "bash") {
    invocation.console.out(bash_completion());
  } else if (shell == "zsh") {
    invocation.console.out(zsh_completion());
  } else {
    invocation.console.out(fish_completion());
  }
  return kExitSuccess;
}

}  // namespace cofferdam::cli
