// A provider's configuration, judged against its JSON Schema.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cofferdam::provider {

struct ConfigProblem {
  std::string field;    // dotted path: "resources.cpu", "mounts[1].path"; empty: the configuration as a whole
  std::string message;  // a sentence without the field's name
  bool unknown_key = false;
};

struct ConfigCheck {
  std::vector<ConfigProblem> problems;  // every one, in the schema's order
  std::vector<std::string> warnings;
  boost::json::object normalised;  // defaults filled in; meaningful without problems

  bool ok() const { return problems.empty(); }
};

// Checks `config` against `schema` (an object schema of draft 7 with "properties") and fills in the defaults of its
// top level. Keys that the schema does not name are problems marked unknown_key: our doors refuse them, a host that
// adds keys of its own filters them out. kInternal when the schema itself is wrong. Strings that look like the id of a
// stored secret pass in a secret field, whatever its pattern says.
Result<ConfigCheck> check_config(const boost::json::object& schema, const boost::json::object& config);

// Dotted paths of the fields whose schema says "format": "secret-ref", through properties, allOf, anyOf and oneOf.
std::vector<std::string> secret_fields(const boost::json::object& schema);

}  // namespace cofferdam::provider
