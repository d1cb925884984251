// Where the program's words go: data to `out`, messages to `err`. Text is shown as given; whoever has untrusted text
// passes it through printable() first.
#pragma once

#include <string_view>

namespace cofferdam::cli {

class Console {
 public:
  virtual ~Console() = default;
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // Whether `out` may carry colours: a terminal, and NO_COLOR is not set.
  virtual bool out_has_colour() const = 0;
};

// Unbuffered standard output and error. A reader that went away (EPIPE) ends the output silently.
class StandardConsole : public Console {
 public:
  void out(std::string_view text) override;
  void err(std::string_view text) override;
  bool out_has_colour() const override;
};

}  // namespace cofferdam::cli
