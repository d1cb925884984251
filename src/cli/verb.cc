#include "cli/verb.h"

#include <algorithm>

#include "base/strings.h"

namespace cofferdam::cli {
namespace {

constexpr std::string_view kGeneral = "General";

bool is_list(const domain::SettingSpec& spec) {
  return spec.shape == domain::SettingSpec::Shape::kList || spec.shape == domain::SettingSpec::Shape::kMap;
}

}  // namespace

bool Arguments::has(std::string_view option) const {
  return std::ranges::any_of(values, [&](const Value& each) { return each.option == option; });
}

std::string_view Arguments::value(std::string_view option) const {
  for (auto each = values.rbegin(); each != values.rend(); ++each) {
    if (each->option == option) return each->text;
  }
  return {};
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::vector<OptionSpec> options_of(const Verb& verb) {
  std::vector<OptionSpec> out;
  if (verb.policy_options) {
    for (const domain::SettingSpec& spec : domain::setting_specs()) {
      if (!spec.is_flag) continue;
      out.push_back({spec.name, 0, spec.value_name, spec.completion, spec.section, spec.help, is_list(spec)});
    }
  }
  out.insert(out.end(), verb.options.begin(), verb.options.end());
  out.push_back({"help", 'h', "", Completion::kNone, kGeneral, "Show this help.", false});
  return out;
}

void report(Console& console, const Error& error) {
  console.err("cofferdam: " + printable(error.to_string()) + "\n");
  if (!error.hint().empty()) console.err("  hint: " + printable(error.hint()) + "\n");
}

}  // namespace cofferdam::cli
