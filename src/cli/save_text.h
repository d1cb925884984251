// What the verbs that save have in common: their flags, and how they tell what was saved.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb.h"
#include "snapshot/capture.h"

namespace cofferdam::cli {

// --level, 1 to 19.
Result<int> level_of(const Arguments& arguments);
// --exclude, as literal paths below the directory: "./a//b/" is "a/b"; a path that leaves it is refused.
Result<std::vector<std::string>> exclusions(const Arguments& arguments);

boost::json::object capture_json(const snapshot::CaptureReport& report);
std::string capture_text(const snapshot::CaptureReport& report);
// What deserves a look, one line each.
void warn_of_capture(Console& console, const snapshot::CaptureReport& report);
void warn_of_new_key(Console& console, const std::string& origin);

}  // namespace cofferdam::cli
