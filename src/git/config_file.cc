#include "git/config_file.h"

#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr int kEnd = -1;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_key_character(int c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}
bool is_blank(int c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
char lower(int c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// One pass over the text, with Git's own grammar (config.c of Git 2.39).
class Parser {
 public:
  Parser(std::string_view text, const ConfigBounds& bounds) : text_(text), bounds_(bounds) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  Result<std::vector<ConfigSetting>> parse() {
    for (int c = next(); c != kEnd; c = next()) {
      if (c == '\n' || is_blank(c)) continue;
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        RETURN_IF_ERROR(read_section());
      } else if (is_letter(c)) {
        RETURN_IF_ERROR(read_setting(c));
      } else {
        return bad("a setting begins with a letter");
      }
    }
    return std::move(settings_);
  }

 private:
  // A line break is one character, however it is written.
  int next() {
    if (at_ >= text_.size()) return kEnd;
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    const auto c = static_cast<unsigned char>(text_[at_++]);
    if (c == '\n') ++line_;
    return c;
  }
  void put_back() {
    if (text_[--at_] == '\n') --line_;
  }

  Error bad(std::string_view why) const {
    return Error(ErrorCode::kInvalidArgument,
                 "bad Git configuration in line " + std::to_string(line_) + ": " + std::string(why));
  }

  void skip_line() {
    int c = next();
    while (c != '\n' && c != kEnd) c = next();
  }

  // [section], [section "subsection"], or the old [section.subsection], which Git lowers.
  Status read_section() {
    std::string name;
    int c = next();
    for (; is_key_character(c) || c == '.'; c = next()) name += lower(c);
    const std::size_t dot = name.find('.');
    current_ = {.section = name.substr(0, dot), .subsection = {}, .key = {}, .value = {}};
    if (current_.section.empty()) return bad("a section needs a name");
    if (dot != std::string::npos) {
      current_.has_subsection = true;
      current_.subsection = name.substr(dot + 1);
    }
    if (c == ']') return {};
    if (!is_blank(c)) return bad("unexpected character in the name of a section");
    return read_subsection();
  }

  Status read_subsection() {
    int c = next();
    while (is_blank(c)) c = next();
    if (c != '"') return bad("a subsection is written in quotes");
    std::string name;
    for (c = next(); c != '"'; c = next()) {
      if (c == '\\') c = next();
      if (c == '\n' || c == kEnd || c == 0) return bad("a subsection does not end");
      name += static_cast<char>(c);
    }
    if (next() != ']') return bad("a section does not end after its subsection");
    if (current_.has_subsection) name = current_.subsection + "." + name;
    current_.has_subsection = true;
    current_.subsection = std::move(name);
    return {};
  }

  Status read_setting(int c) {
    if (current_.section.empty()) return bad("a setting before the first section");
    if (settings_.size() >= bounds_.settings) {
      return Error(ErrorCode::kResourceExhausted,
                   "the Git configuration has more than " + std::to_string(bounds_.settings) + " settings");
    }
    ConfigSetting setting = current_;
    for (; is_key_character(c); c = next()) setting.key += lower(c);
    while (c == ' ' || c == '\t') c = next();
    setting.has_value = c == '=';
    if (setting.has_value) {
      RETURN_IF_ERROR(read_value(setting.value));
    } else if (c != '\n' && c != kEnd) {
      return bad("a key is followed by = or the end of the line");
    }
    settings_.push_back(std::move(setting));
    return {};
  }

  // Up to the end of the line. Quotes may begin and end anywhere; blanks count only between other characters, each as
  // one space.
  Status read_value(std::string& value) {
    bool quoted = false;
    std::size_t blanks = 0;
    for (int c = next();; c = next()) {
      if (c == '\n' || c == kEnd) return quoted ? Status(bad("a quote does not end")) : Status();
      if (c == 0) return bad("a value holds a NUL byte");
      if (!quoted && is_blank(c)) {
        if (!value.empty()) ++blanks;
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        return {};
      }
      value.append(blanks, ' ');
      blanks = 0;
      if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\') {
        RETURN_IF_ERROR(read_escaped(value));
      } else {
        value += static_cast<char>(c);
      }
    }
  }

  Status read_escaped(std::string& value) {
    const int c = next();
    switch (c) {
      case '\n':
        return {};
      case 't':
        value += '\t';
        return {};
      case 'b':
        value += '\b';
        return {};
      case 'n':
        value += '\n';
        return {};
      case '\\':
      case '"':
        value += static_cast<char>(c);
        return {};
      default:
        return bad("unknown escape in a value");
    }
  }

  std::string_view text_;
  const ConfigBounds& bounds_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  ConfigSetting current_{};  // the section that settings are in now
  std::vector<ConfigSetting> settings_;
};

std::string quoted_subsection(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string quoted_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool same_section(const ConfigSetting& left, const ConfigSetting& right) {
  return left.section == right.section && left.has_subsection == right.has_subsection &&
         left.subsection == right.subsection;
}

}  // namespace

std::string ConfigSetting::name() const {
  return section + (has_subsection ? "." + subsection : "") + "." + key;
}

Result<std::vector<ConfigSetting>> parse_config(std::string_view text, const ConfigBounds& bounds) {
  if (text.size() > bounds.bytes) {
    return Error(ErrorCode::kResourceExhausted,
                 "the Git configuration is longer than " + std::to_string(bounds.bytes) + " bytes");
  }
  return Parser(text, bounds).parse();
}

const std::string* config_value(const std::vector<ConfigSetting>& settings, std::string_view section,
                                std::string_view key) {
  const std::string* found = nullptr;
  for (const ConfigSetting& setting : settings) {
    if (setting.is(section, key)) found = &setting.value;
  }
  return found;
}

std::string render_config(const std::vector<ConfigSetting>& settings) {
  std::string out;
  const ConfigSetting* previous = nullptr;
  for (const ConfigSetting& setting : settings) {
    if (previous == nullptr || !same_section(*previous, setting)) {
      out += "[" + setting.section;
      if (setting.has_subsection) out += " " + quoted_subsection(setting.subsection);
      out += "]\n";
    }
    out += "\t" + setting.key + (setting.has_value ? " = " + quoted_value(setting.value) : "") + "\n";
    previous = &setting;
  }
  return out;
}

}  // namespace cofferdam::git
