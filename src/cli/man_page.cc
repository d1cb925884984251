#include "cli/man_page.h"

#include <span>

#include "base/strings.h"
#include "cli/help.h"
#include "cli/program_text.h"

namespace cofferdam::cli {
namespace {

// Text as man's formatter reads it: backslashes and hyphens are escaped, no line starts with a control character, and
// an ellipsis is dots, which a terminal without UTF-8 can show.
std::string escaped(std::string_view original) {
  constexpr std::string_view kEllipsis = "…";
  std::string text(original);
  for (std::size_t at = text.find(kEllipsis); at != std::string::npos; at = text.find(kEllipsis, at)) {
    text.replace(at, kEllipsis.size(), "...");
  }
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string header(std::string_view name, std::string_view summary, std::string_view version) {
  std::string title(name);
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return ".TH \"" + escaped(title) + "\" \"1\" \"\" \"cofferdam " + escaped(version) +
         "\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n" + std::string(name) + " \\- " + escaped(summary) + "\n";
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    out += line.empty() ? std::string(".PP\n") : escaped(line) + "\n";
  }
  return out;
}

// A term and its explanation.
std::string tagged(std::string_view term, std::string_view text) {
  return ".TP\n\\fB" + escaped(term) + "\\fR\n" + escaped(text) + "\n";
}

std::string terms(std::string_view title, std::span<const Explained> list) {
  std::string out = ".SH " + std::string(title) + "\n";
  for (const Explained& each : list) out += tagged(each.term, each.text);
  return out;
}

std::string option_sections(const Verb& verb) {
  std::string out = ".SH OPTIONS\n";
  std::string_view section;
  for (const OptionSpec& option : options_of(verb)) {
    if (option.section != section) out += ".SS \"" + escaped(option.section) + "\"\n";
    section = option.section;
    out += tagged(option_heading(option), option.help);
  }
  return out;
}

// Lines of the table: a command, then its explanation with four spaces in front.
std::string examples(std::string_view lines) {
  std::string out = ".SH EXAMPLES\n";
  bool open = false;
  for (const std::string_view line : split(lines, '\n')) {
    if (line.starts_with(' ')) {
      out += ".RS\n" + escaped(trimmed(line)) + "\n.RE\n";
      open = false;
    } else {
      out += (open ? ".br\n" : ".PP\n") + ("\\fB" + escaped(line) + "\\fR\n");
      open = true;
    }
  }
  return out;
}

std::string exit_codes(std::string_view lines) {
  std::string out = ".SH EXIT STATUS\n";
  for (const std::string_view line : split(lines, '\n')) {
    const std::size_t gap = line.find("  ");
    out +=
        gap == std::string_view::npos ? escaped(line) + "\n" : tagged(line.substr(0, gap), trimmed(line.substr(gap)));
  }
  return out;
}

std::string see_also(std::string_view except) {
  std::string out = ".SH SEE ALSO\n";
  if (!except.empty()) out += "\\fBcofferdam\\fR(1)";
  bool first = except.empty();
  for (const Verb& verb : verbs()) {
    if (verb.name == except) continue;
    out += std::string(first ? "" : ",\n") + "\\fBcofferdam\\-" + escaped(hyphenated(verb.name)) + "\\fR(1)";
    first = false;
  }
  return out + "\n";
}

}  // namespace

std::string program_man_page(std::string_view version) {
  std::string out = header("cofferdam", "run commands of AI agents confined", version);
  out += ".SH SYNOPSIS\n\\fBcofferdam\\fR \\fIVERB\\fR [\\fIFLAGS\\fR] [\\-\\- \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]]\n";
  out +=
      ".SH DESCRIPTION\nRuns commands of AI agents, or any command, confined to a workspace and to the hosts it "
      "was allowed.\n.SH VERBS\n";
  for (const Verb& verb : verbs()) out += tagged(verb.name, verb.summary);
  out += exit_codes(kProgramExitCodes) + terms("ENVIRONMENT", kProgramEnvironment) + terms("FILES", kProgramFiles);
  out += examples(kProgramExamples);
  return out + see_also("");
}

std::string verb_man_page(const Verb& verb, std::string_view version) {
  std::string out = header("cofferdam-" + hyphenated(verb.name), verb.summary, version);
  out += ".SH SYNOPSIS\n\\fBcofferdam " + std::string(verb.name) + "\\fR " + escaped(verb.synopsis) + "\n";
  out += ".SH DESCRIPTION\n" + paragraphs(verb.description);
  if (!verb.positionals.empty()) out += ".SH ARGUMENTS\n";
  for (const PositionalSpec& spec : verb.positionals) out += tagged(spec.name, spec.help);
  out += option_sections(verb) + exit_codes(verb.exit_codes) + examples(verb.examples);
  return out + see_also(verb.name);
}

}  // namespace cofferdam::cli
