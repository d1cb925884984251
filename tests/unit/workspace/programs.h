// Runs the programs that archives and patterns are exchanged with.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "system/child_process.h"
#include "system/file.h"

namespace cofferdam::workspace {

// Where the program is; empty when this machine lacks it.
inline std::string program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/"}) {
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return "";
}

struct Ran {
  int exit_code = -1;
  std::string out;
};

// Runs `arguments[0]` (a name) in `directory` with `input`; standard error goes to ours.
inline Ran run_program(const std::string& directory, std::vector<std::string> arguments,
                       const std::string& input = "") {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return {};
  UniqueFd in_read(in[0]);
  UniqueFd in_write(in[1]);
  UniqueFd out_read(out[0]);
  UniqueFd out_write(out[1]);
  const std::string path = program(arguments[0]);
  auto child = system::ChildProcess::spawn({.program = path,
                                            .arguments = std::move(arguments),
                                            .environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"},
                                            .descriptors = {in_read.get(), out_write.get(), 2},
                                            .working_directory = directory});
  if (!child) return {};
  in_read.reset();
  out_write.reset();
  std::thread writer([&] {
    (void)system::write_all(in_write.get(), input, "a file");
    in_write.reset();
  });
  Ran ran{.out = system::read_up_to(out_read.get(), std::size_t{1} << 28).value_or("")};
  writer.join();
  const auto status = child->wait();
  ran.exit_code = status && !status->signalled ? status->value : -1;
  return ran;
}

}  // namespace cofferdam::workspace
