// How snapshots look on paper and as JSON.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"
#include "snapshot/removal.h"
#include "store/records.h"
#include "workspace/entry.h"

namespace cofferdam::cli {

// "12.3 MiB".
std::string size_text(std::uint64_t bytes);
// "2026-12-03 05:14:01", UTC.
std::string time_text(std::int64_t ms);
// "snap-01kbh2…" shortened to what a person copies.
std::string short_id(const std::string& id);
// A path as JSON: text, or {"base64": …} when it is no UTF-8.
boost::json::value path_json(std::string_view path);
boost::json::object snapshot_json(const store::SnapshotRecord& record);
boost::json::array omissions_json(const std::vector<workspace::Omission>& omissions);
// "3 left out: 1 dependencies, 2 socket" and the paths, at most twenty.
std::string omissions_text(const std::vector<workspace::Omission>& omissions);
std::string removal_text(const std::vector<store::SnapshotRecord>& removed, const snapshot::CollectReport& collected);

// --company, else $COFFERDAM_COMPANY, else "default".
std::string company_of(const Arguments& arguments);
bool wants_json(const Arguments& arguments);

// Reports the error and gives the exit code that fits it.
int failed(const Invocation& invocation, const Error& error);

}  // namespace cofferdam::cli
