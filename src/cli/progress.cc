#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cofferdam::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{100};
constexpr std::chrono::milliseconds kLineEvery{2000};
constexpr unsigned kWhole = 100;
constexpr unsigned kTenth = 10;
constexpr unsigned kBarWidth = 30;
constexpr double kMegabyte = 1024.0 * 1024.0;

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / kMegabyte);
  return text;
}

}  // namespace

void ConsoleProgress::begin(std::string_view phase, std::uint64_t total) {
  phase_ = phase;
  total_ = total;
  done_ = 0;
  shown_tenth_ = 0;
  drawn_ = false;
  shown_at_ = Clock::now();
}

void ConsoleProgress::add(std::uint64_t bytes) {
  done_ += bytes;
  if (silent_) return;
  const auto since = Clock::now() - shown_at_;
  const bool tenth = percent() / kTenth > shown_tenth_ && percent() < kWhole;
  if (terminal_ ? since < kRedrawEvery : !tenth && since < kLineEvery) return;
  draw();
}

void ConsoleProgress::end(bool succeeded) {
  if (silent_) return;
  if (terminal_) {
    if (drawn_) console_.err("\r\x1b[K");
    return;
  }
  if (succeeded) {
    done_ = std::max(done_, total_);
    draw();
    return;
  }
  const std::string line = "[paperclip] " + phase_ + " " + direction_;
  console_.err(total_ == 0 ? line + ": failed after " + megabytes(done_) + " MB\n"
                           : line + ": failed at " + std::to_string(percent()) + "% (" + amount() + ")\n");
}

unsigned ConsoleProgress::percent() const {
  return total_ == 0 ? 0 : static_cast<unsigned>(std::min<std::uint64_t>(done_, total_) * kWhole / total_);
}

std::string ConsoleProgress::amount() const {
  return total_ == 0 ? megabytes(done_) + " MB" : megabytes(std::min(done_, total_)) + "/" + megabytes(total_) + " MB";
}

void ConsoleProgress::draw() {
  shown_at_ = Clock::now();
  shown_tenth_ = percent() / kTenth;
  drawn_ = true;
  const std::string share = total_ == 0 ? "" : std::to_string(percent()) + "% ";
  if (!terminal_) {
    const std::string shown = total_ == 0 ? amount() : share + "(" + amount() + ")";
    console_.err("[paperclip] " + phase_ + " " + direction_ + ": " + shown + "\n");
    return;
  }
  const unsigned filled = percent() * kBarWidth / kWhole;
  const std::string bar = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, ' ') + "] ";
  console_.err("\r\x1b[K" + phase_ + " " + (total_ == 0 ? "" : bar) + share + amount());
}

bool errors_go_to_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

}  // namespace cofferdam::cli
