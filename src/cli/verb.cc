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

std::vector<std::string> Arguments::all(std::string_view option) const {
  std::vector<std::string> out;
  for (const Value& each : values) {
    if (each.option == option) out.push_back(each.text);
  }
  return out;
}

std::span<const Verb> verbs() {
  static const std::vector<Verb> kAll = [] {
    std::vector<Verb> all;
    for (const std::span<const Verb> group : {local_verbs(), snapshot_verbs()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kAll;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name || hyphenated(verb.name) == name) return &verb;
  }
  return nullptr;
}

std::string_view group_of(const Verb& verb) {
  const std::size_t space = verb.name.find(' ');
  return space == std::string_view::npos ? std::string_view() : verb.name.substr(0, space);
}

std::vector<std::string_view> verb_groups() {
  std::vector<std::string_view> groups;
  for (const Verb& verb : verbs()) {
    const std::string_view group = group_of(verb);
    if (!group.empty() && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

std::string hyphenated(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, ' ', '-');
  return out;
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

Error no_such_verb(std::string_view name) {
  return Error(ErrorCode::kInvalidArgument, "there is no verb \"" + std::string(name) + "\"")
      .with_hint("\"cofferdam help\" lists them.");
}

void report(Console& console, const Error& error) {
  console.err("cofferdam: " + printable(error.to_string()) + "\n");
  if (!error.hint().empty()) console.err("  hint: " + printable(error.hint()) + "\n");
}

}  // namespace cofferdam::cli
