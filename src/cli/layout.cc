#include "cli/layout.h"

#include "base/strings.h"

namespace cofferdam::cli {
namespace {

void append_paragraph(std::string& out, std::string_view paragraph, std::size_t indent, std::size_t width) {
  std::size_t column = indent;
  bool at_start = true;
  for (const std::string_view word : split(paragraph, ' ')) {
    if (!at_start && column + 1 + word.size() > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!at_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at_start = false;
  }
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    if (!first) {
      out += '\n';
      if (!line.empty()) out.append(indent, ' ');
    }
    append_paragraph(out, line, indent, width);
    first = false;
  }
  return out;
}

}  // namespace cofferdam::cli
