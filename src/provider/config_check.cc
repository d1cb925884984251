#include "provider/config_check.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <set>
#include <utility>

#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/strings.h"
#include "domain/suggestion.h"

namespace cofferdam::provider {
namespace {

namespace json = boost::json;

const json::object& properties_of(const json::object& schema) {
  static const json::object kNone;
  const json::value* const properties = schema.if_contains("properties");
  return properties != nullptr && properties->is_object() ? properties->get_object() : kNone;
}

bool is_secret(const json::object& schema) {
  const json::value* const format = schema.if_contains("format");
  return format != nullptr && format->is_string() && format->get_string() == "secret-ref";
}

// valijson writes a path as "<root>[a][1]"; a person writes "a[1]".
std::string dotted(const std::string& path) {
  std::string out;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t open = rest.find('[');
    const std::size_t close = rest.find(']', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string name(rest.substr(open + 1, close - open - 1));
    if (parse_decimal(name)) {
      out += "[" + name + "]";
    } else {
      out += (out.empty() ? "" : ".") + name;
    }
    rest.remove_prefix(close + 1);
  }
  return out;
}

void find_unknown_keys(const json::object& schema, const json::object& config, std::vector<ConfigProblem>& problems) {
  std::vector<std::string_view> known;
  for (const auto& property : properties_of(schema)) known.push_back(property.key());
  for (const auto& member : config) {
    if (properties_of(schema).contains(member.key())) continue;
    std::string message = "is no setting of this provider";
    const std::string suggestion = domain::suggestion_for(member.key(), known);
    if (!suggestion.empty()) message += "; " + suggestion;
    problems.push_back({.field = std::string(member.key()), .message = std::move(message), .unknown_key = true});
  }
}

// The schema without what was judged already or cannot be judged now: unknown keys, and the form of secrets, which may
// be the id of a stored one.
json::object for_validator(const json::object& schema) {
  json::object copy = schema;
  copy.erase("additionalProperties");
  json::value* const properties = copy.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return copy;
  for (auto& property : properties->get_object()) {
    if (!property.value().is_object() || !is_secret(property.value().get_object())) continue;
    property.value() = json::object{{"type", "string"}};
  }
  return copy;
}

Result<std::vector<ConfigProblem>> violations(const json::object& schema, const json::object& config) {
  const json::value schema_value(for_validator(schema));
  const json::value config_value(config);
  std::vector<ConfigProblem> problems;
  // valijson throws on a schema that it cannot read.
  try {
    valijson::Schema parsed;
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::BoostJsonAdapter(schema_value), parsed);
    valijson::Validator validator;
    valijson::ValidationResults results;
    validator.validate(parsed, valijson::adapters::BoostJsonAdapter(config_value), &results);
    valijson::ValidationResults::Error error;
    std::set<std::string> seen;  // of one field the first and most exact finding
    while (results.popError(error)) {
      std::string path;
      for (const std::string& part : error.context) path += part;
      const std::string field = dotted(path);
      // Says of a container what its members have said already.
      if (error.description.starts_with("Failed to validate ")) continue;
      if (seen.insert(field + "\n" + error.description).second)
        problems.push_back({.field = field, .message = error.description});
    }
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kInternal, std::string("the provider's configuration schema is wrong: ") + failure.what());
  }
  return problems;
}

json::object with_defaults(const json::object& schema, json::object config) {
  for (const auto& property : properties_of(schema)) {
    if (!property.value().is_object() || config.contains(property.key())) continue;
    const json::value* const standard = property.value().get_object().if_contains("default");
    if (standard != nullptr) config.emplace(property.key(), *standard);
  }
  return config;
}

void collect_secrets(const json::object& schema, const std::string& prefix, std::vector<std::string>& fields) {
  for (const auto& property : properties_of(schema)) {
    if (!property.value().is_object()) continue;
    const std::string path = prefix + std::string(property.key());
    const json::object& inner = property.value().get_object();
    if (is_secret(inner)) fields.push_back(path);
    collect_secrets(inner, path + ".", fields);
  }
  for (const char* const group : {"allOf", "anyOf", "oneOf"}) {
    const json::value* const alternatives = schema.if_contains(group);
    if (alternatives == nullptr || !alternatives->is_array()) continue;
    for (const json::value& alternative : alternatives->get_array()) {
      if (alternative.is_object()) collect_secrets(alternative.get_object(), prefix, fields);
    }
  }
}

}  // namespace

Result<ConfigCheck> check_config(const json::object& schema, const json::object& config) {
  ConfigCheck check;
  find_unknown_keys(schema, config, check.problems);
  ASSIGN_OR_RETURN(std::vector<ConfigProblem> found, violations(schema, config));
  check.problems.insert(check.problems.end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
  check.normalised = with_defaults(schema, config);
  return check;
}

std::vector<std::string> secret_fields(const json::object& schema) {
  std::vector<std::string> fields;
  collect_secrets(schema, "", fields);
  return fields;
}

}  // namespace cofferdam::provider
