#include "domain/policy_file.h"

#include <algorithm>

#include "base/strings.h"
#include "domain/suggestion.h"
#include "domain/yaml_tree.h"

namespace cofferdam::domain {
namespace {

using Kind = YamlNode::Kind;
using Place = SettingSpec::Place;
using Shape = SettingSpec::Shape;

constexpr std::string_view kLimitsGroup = "limits";
constexpr std::string_view kVariablesGroup = "variables";
constexpr std::size_t kMostProblems = 20;  // a file of nonsense need not be answered line by line

// Applies a parsed file key by key and collects what is wrong.
class Reader {
 public:
  explicit Reader(const PolicyFileLocation& location) : location_(location) {}

  void read(const YamlNode& root) {
    if (root.kind == Kind::kNull) return;
    if (root.kind != Kind::kMap) return wrong_kind(root, "", "a map of keys");
    read_members(root, Place::kTopLevel, "");
  }

  std::expected<PolicySettings, std::vector<Error>> take() {
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(settings_);
  }

 private:
  void read_members(const YamlNode& map, Place place, std::string_view prefix) {
    for (const YamlNode::Member& member : map.map) {
      if (problems_.size() >= kMostProblems) return;
      const std::string path = std::string(prefix) + printable(member.key);
      if (place == Place::kTopLevel && member.key == kLimitsGroup) {
        read_group(member, Place::kLimits);
      } else if (place == Place::kTopLevel && member.key == kVariablesGroup) {
        read_group(member, Place::kVariables);
      } else if (const SettingSpec* spec = find(member.key, place)) {
        read_value(*spec, member.value, path);
      } else {
        unknown_key(member, place);
      }
    }
  }

  void read_group(const YamlNode::Member& member, Place place) {
    if (member.value.kind != Kind::kMap) return wrong_kind(member.value, member.key, "a map of keys");
    read_members(member.value, place, member.key + ".");
  }

  void read_value(const SettingSpec& spec, const YamlNode& node, const std::string& path) {
    if (spec.shape == Shape::kMap) return read_map(spec, node, path);
    if (spec.shape == Shape::kList && node.kind == Kind::kList) {
      for (const YamlNode& element : node.list) read_scalar(spec, element, path);
      return;
    }
    const bool list = spec.shape == Shape::kList;
    if (node.kind != Kind::kScalar) return wrong_kind(node, path, list ? "a list of texts" : "a single value");
    read_scalar(spec, node, path);
  }

  void read_scalar(const SettingSpec& spec, const YamlNode& node, const std::string& path) {
    if (node.kind != Kind::kScalar) return wrong_kind(node, path, "a single value");
    keep(spec.apply(settings_, node.text, source(node.line, path)));
  }

  void read_map(const SettingSpec& spec, const YamlNode& node, const std::string& path) {
    if (node.kind != Kind::kMap) return wrong_kind(node, path, "a map of single values");
    for (const YamlNode::Member& member : node.map) {
      if (member.value.kind != Kind::kScalar) {
        wrong_kind(member.value, path + "." + printable(member.key), "a single value");
      } else {
        keep(spec.apply_entry(settings_, member.key, member.value.text, source(member.line, path)));
      }
    }
  }

  // ------------------------------------------------------------------------------------------------- problems

  std::string at(int line) const { return printable(location_.file) + ":" + std::to_string(line) + ": "; }

  SettingSource source(int line, const std::string& path) const {
    return {at(line) + path, location_.directory, location_.home};
  }

  void keep(Status status) {
    if (!status) problems_.push_back(std::move(status.error()));
  }

  void wrong_kind(const YamlNode& node, const std::string& path, std::string_view expected) {
    const std::string key = path.empty() ? "" : path + ": ";
    problems_.emplace_back(ErrorCode::kInvalidArgument, at(node.line) + key + "expected " + std::string(expected) +
                                                            ", found " + std::string(to_string(node.kind)));
  }

  void unknown_key(const YamlNode::Member& member, Place place) {
    Error error(ErrorCode::kInvalidArgument, at(member.line) + "unknown key \"" + printable(member.key) + "\"" +
                                                 (place == Place::kTopLevel ? "" : " in " + group_name(place)));
    std::string hint = hint_for(member.key, place);
    problems_.push_back(hint.empty() ? std::move(error) : std::move(error).with_hint(std::move(hint)));
  }

  static std::string group_name(Place place) {
    return std::string(place == Place::kLimits ? kLimitsGroup : kVariablesGroup);
  }

  static std::string hint_for(const std::string& key, Place place) {
    if (key == "env") return "write variables: {pass: [NAME], set: {NAME: VALUE}}";
    if (const SettingSpec* elsewhere = find_anywhere(key)) {
      if (elsewhere->place == Place::kFlagOnly) return "--" + key + " is a flag only";
      if (elsewhere->place == Place::kTopLevel) return "\"" + key + "\" stands at the top level";
      return "\"" + key + "\" stands in the group " + group_name(elsewhere->place);
    }
    const std::string here = suggestion_for(key, known_keys(place));
    if (!here.empty()) return here;
    return suggestion_for(key, known_keys(place == Place::kTopLevel ? Place::kLimits : Place::kTopLevel));
  }

  static const SettingSpec* find(std::string_view key, Place place) {
    for (const SettingSpec& spec : setting_specs()) {
      if (spec.name == key && spec.place == place) return &spec;
    }
    return nullptr;
  }

  static const SettingSpec* find_anywhere(std::string_view key) {
    const auto spec = std::ranges::find(setting_specs(), key, &SettingSpec::name);
    return spec == setting_specs().end() ? nullptr : &*spec;
  }

  static std::vector<std::string_view> known_keys(Place place) {
    std::vector<std::string_view> keys;
    for (const SettingSpec& spec : setting_specs()) {
      if (spec.place == place) keys.push_back(spec.name);
    }
    if (place == Place::kTopLevel) keys.insert(keys.end(), {kLimitsGroup, kVariablesGroup});
    return keys;
  }

  const PolicyFileLocation& location_;
  PolicySettings settings_;
  std::vector<Error> problems_;
};

}  // namespace

std::expected<PolicySettings, std::vector<Error>> parse_policy_file(std::string_view text,
                                                                    const PolicyFileLocation& location) {
  auto root = parse_yaml(text, location.file);
  if (!root) return std::unexpected(std::vector<Error>{std::move(root.error())});
  Reader reader(location);
  reader.read(*root);
  return reader.take();
}

}  // namespace cofferdam::domain
