// Shows how far a save or a restore is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "workspace/progress.h"

namespace cofferdam::cli {

// On a terminal a bar that is redrawn and removed at the end; elsewhere lines as Paperclip prints them:
// "[paperclip] Saving to store: 40% (4.0/10.0 MB)", at each tenth or after two seconds, and exactly one last line.
class ConsoleProgress : public workspace::Progress {
 public:
  // `direction`: "to store", "from store". A silent one shows nothing.
  ConsoleProgress(Console& console, bool terminal, bool silent, std::string_view direction)
      : console_(console), terminal_(terminal), silent_(silent), direction_(direction) {}

  void begin(std::string_view phase, std::uint64_t total) override;
  void add(std::uint64_t bytes) override;
  void end(bool succeeded) override;

 private:
  using Clock = std::chrono::steady_clock;
  unsigned percent() const;
  std::string amount() const;
  void draw();

  Console& console_;
  const bool terminal_;
  const bool silent_;
  const std::string direction_;
  std::string phase_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  unsigned shown_tenth_ = 0;
  bool drawn_ = false;
  Clock::time_point shown_at_;
};

// Whether standard error is a terminal.
bool errors_go_to_terminal();

}  // namespace cofferdam::cli
