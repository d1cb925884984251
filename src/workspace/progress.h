// How far a long piece of work is, for whoever shows it.
#pragma once

#include <cstdint>
#include <string_view>

namespace cofferdam::workspace {

// Called from the thread that works, often; must be cheap and never block for long.
class Progress {
 public:
  virtual ~Progress() = default;
  // A new phase ("Saving", "Restoring") of `total` bytes; 0: unknown.
  virtual void begin(std::string_view phase, std::uint64_t total) = 0;
  virtual void add(std::uint64_t bytes) = 0;
  // Exactly one per phase.
  virtual void end(bool succeeded) = 0;
};

}  // namespace cofferdam::workspace
