#include "system/terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>

namespace cofferdam::system {

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

void set_terminal_size(int fd, TerminalSize size) {
  const winsize wanted{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(fd, TIOCSWINSZ, &wanted);
}

std::string terminal_modes(int fd) {
  termios modes{};
  if (::tcgetattr(fd, &modes) != 0) return "";
  return {reinterpret_cast<const char*>(&modes), sizeof modes};
}

bool in_foreground(int fd) {
  const pid_t group = ::tcgetpgrp(fd);
  return group < 0 || group == ::getpgrp();
}

RawMode::RawMode(int fd) : fd_(fd), saved_(terminal_modes(fd)) {}

void RawMode::enter() {
  // A job in the background that changes the modes is stopped.
  if (saved_.empty() || !in_foreground(fd_)) return;
  termios modes{};
  std::memcpy(&modes, saved_.data(), sizeof modes);
  ::cfmakeraw(&modes);
  raw_ = ::tcsetattr(fd_, TCSADRAIN, &modes) == 0;
}

void RawMode::restore() {
  if (!raw_) return;
  termios modes{};
  std::memcpy(&modes, saved_.data(), sizeof modes);
  ::tcsetattr(fd_, TCSADRAIN, &modes);
  raw_ = false;
}

}  // namespace cofferdam::system
