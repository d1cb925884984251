// JSON as the verbs print it.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace cofferdam::cli {

// One value on several lines, two spaces of indentation, a line break at the end.
std::string pretty(const boost::json::value& value);

}  // namespace cofferdam::cli
