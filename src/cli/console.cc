#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace cofferdam::cli {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void StandardConsole::out(std::string_view text) {
  write_all(STDOUT_FILENO, text);
}

void StandardConsole::err(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

bool StandardConsole::out_has_colour() const {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace cofferdam::cli
