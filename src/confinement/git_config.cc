#include "confinement/git_config.h"

#include "base/strings.h"

namespace cofferdam::confinement {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<GitConfigEntry> scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || is_blank(c)) {
        ++at_;
      } else if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        read_section();
      } else if (is_key_character(c)) {
        read_entry();
      } else {
        ++at_;
      }
    }
    return std::move(entries_);
  }

 private:
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  // `[section]`, `[section "subsection"]` or the old `[section.subsection]`.
  void read_section() {
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find_first_of(" \t\".]\n", begin);
    section_ = ascii_lower(text_.substr(begin, end == std::string_view::npos ? end : end - begin));
    bool quoted = false;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
      } else if (text_[at_] == '"') {
        quoted = !quoted;
      } else if (text_[at_] == ']' && !quoted) {
        ++at_;
        return;
      }
    }
  }

  void read_entry() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_key_character(text_[at_])) ++at_;
    GitConfigEntry entry{.section = section_, .key = ascii_lower(text_.substr(begin, at_ - begin)), .value = {}};
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      entry.value = read_value();
    }
    entries_.push_back(std::move(entry));
  }

  // Up to the end of the line: quotes may begin and end anywhere, a backslash before the end goes on with the next
  // line, blanks count only between other characters.
  std::string read_value() {
    std::string value;
    std::string blanks;
    bool quoted = false;
    const auto append = [&](char c) {
      value += blanks;
      blanks.clear();
      value += c;
    };
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') break;
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (!quoted && is_blank(c)) {
        blanks += c;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\') {
        append_escaped(append);
      } else {
        append(c);
      }
    }
    return value;
  }

  template <class Append>
  void append_escaped(Append append) {
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '\r') ++at_;
    if (at_ + 1 >= text_.size()) return;
    const char c = text_[++at_];
    if (c == '\n') return;
    append(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::vector<GitConfigEntry> entries_;
};

}  // namespace

std::vector<GitConfigEntry> git_config_entries(std::string_view text) {
  return Scanner(text).scan();
}

std::vector<std::string> git_config_values(std::string_view text, std::string_view section, std::string_view key) {
  std::vector<std::string> values;
  for (GitConfigEntry& entry : git_config_entries(text)) {
    if (equals_ignoring_case(entry.section, section) && equals_ignoring_case(entry.key, key))
      values.push_back(std::move(entry.value));
  }
  return values;
}

}  // namespace cofferdam::confinement
