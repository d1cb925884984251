// The caller's terminal: reading its state, lending it to a run in raw mode.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace cofferdam::system {

struct TerminalSize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

TerminalSize terminal_size(int fd);
void set_terminal_size(int fd, TerminalSize size);
// The bytes of its struct termios; empty when `fd` is no terminal.
std::string terminal_modes(int fd);
// False for a job that its shell has put into the background of the terminal. True for no terminal of this session.
bool in_foreground(int fd);

// Raw mode while it lives; the former modes afterwards. Refers to `fd` without owning it.
class RawMode {
 public:
  explicit RawMode(int fd);
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;
  ~RawMode() { restore(); }
  void enter();
  void restore();

 private:
  int fd_;
  std::string saved_;
  bool raw_ = false;
};

}  // namespace cofferdam::system
