#include "control/terminal_relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "system/file.h"

namespace cofferdam::control {
namespace {

constexpr std::size_t kChunk = 65536;
constexpr int kDrainMilliseconds = 200;

std::uint32_t terminals_of_caller() {
  std::uint32_t bits = 0;
  for (int fd = 0; fd < 3; ++fd) {
    if (::isatty(fd) == 1) bits |= 1U << fd;
  }
  return bits;
}

int output_of(std::uint32_t descriptors) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO}) {
    if ((descriptors & (1U << fd)) != 0) return fd;
  }
  return -1;
}

}  // namespace

TerminalRelay::TerminalRelay()
    : input_is_terminal_(::isatty(STDIN_FILENO) == 1),
      descriptors_(terminals_of_caller()),
      output_(output_of(descriptors_)),
      raw_(input_is_terminal_ ? STDIN_FILENO : -1) {}

confinement::SandboxTerminal TerminalRelay::description() const {
  if (output_ < 0) return {};
  const system::TerminalSize size = system::terminal_size(output_);
  return {.descriptors = descriptors_,
          .rows = size.rows,
          .columns = size.columns,
          .modes = system::terminal_modes(output_)};
}

void TerminalRelay::attach(UniqueFd master) {
  master_ = std::move(master);
  ::fcntl(master_.get(), F_SETFL, ::fcntl(master_.get(), F_GETFL) | O_NONBLOCK);
  raw_.enter();
}

void TerminalRelay::add_to(std::vector<pollfd>& watched) {
  in_background_ = master_ && input_is_terminal_ && !system::in_foreground(STDIN_FILENO);
  if (!master_) return;
  const auto writes = static_cast<short>(pending_.empty() ? 0 : POLLOUT);
  watched.push_back({.fd = master_.get(), .events = static_cast<short>(POLLIN | writes), .revents = 0});
  if (input_is_terminal_ && !input_ended_ && pending_.empty() && !in_background_) {
    watched.push_back({.fd = STDIN_FILENO, .events = POLLIN, .revents = 0});
  }
}

void TerminalRelay::serve(const std::vector<pollfd>& watched) {
  if (!master_) return;
  if (in_background_ && system::in_foreground(STDIN_FILENO)) resume();
  for (const pollfd& entry : watched) {
    if (entry.fd == master_.get() && (entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !copy_output()) {
      master_.reset();
      return;
    }
    if (entry.fd == STDIN_FILENO && entry.revents != 0) copy_input();
  }
  flush_input();
}

// False when the private terminal is closed for good.
bool TerminalRelay::copy_output() {
  char buffer[kChunk];
  const ssize_t count = ::read(master_.get(), buffer, sizeof buffer);
  if (count > 0) {
    (void)system::write_all(output_, {buffer, static_cast<std::size_t>(count)}, "the terminal");
    return true;
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

void TerminalRelay::copy_input() {
  char buffer[4096];
  const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (count > 0) {
    pending_.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    input_ended_ = true;
  }
}

void TerminalRelay::flush_input() {
  if (pending_.empty()) return;
  const ssize_t count = ::write(master_.get(), pending_.data(), pending_.size());
  if (count > 0) pending_.erase(0, static_cast<std::size_t>(count));
}

void TerminalRelay::resize() const {
  if (master_) system::set_terminal_size(master_.get(), system::terminal_size(output_));
}

void TerminalRelay::resume() {
  if (!master_) return;
  raw_.enter();
  resize();
}

void TerminalRelay::drain() {
  while (master_) {
    pollfd entry{.fd = master_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, kDrainMilliseconds) <= 0 || !copy_output()) break;
  }
  raw_.restore();
}

}  // namespace cofferdam::control
