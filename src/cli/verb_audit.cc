#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "base/strings.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "domain/moment.h"
#include "domain/quantity.h"

namespace cofferdam::cli {
namespace {

// A member as text; "-" when it is absent or null. Numbers as they stand.
std::string member(const boost::json::object& decision, std::string_view name) {
  const boost::json::value* value = decision.if_contains(name);
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return printable(std::string_view(value->get_string()));
  return printable(boost::json::serialize(*value));
}

// The columns of one recorded decision. REASON: of a refusal, or why an allowed connection failed.
std::vector<std::string> columns_of(const std::string& line) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(line, error);
  if (error || !value.is_object()) return {"-", "unreadable", printable(line)};
  const boost::json::object& decision = value.get_object();
  const std::string port = member(decision, "port");
  const std::string reason = member(decision, decision.contains("reason") ? "reason" : "failure");
  return {member(decision, "time"),   member(decision, "verdict"), member(decision, "host") + ":" + port,
          member(decision, "method"), member(decision, "rule"),    reason,
          member(decision, "run")};
}

std::string as_table(const std::vector<std::string>& lines) {
  std::vector<std::vector<std::string>> rows = {{"TIME", "VERDICT", "DESTINATION", "METHOD", "RULE", "REASON", "RUN"}};
  for (const std::string& line : lines) rows.push_back(columns_of(line));
  return table(rows);
}

Error not_valid(std::string_view option, std::string_view text, std::string_view wanted) {
  return {ErrorCode::kInvalidArgument,
          "--" + std::string(option) + ": \"" + printable(text) + "\" is " + std::string(wanted)};
}

// A duration counts back from now.
Result<domain::Moment> since_of(std::string_view text) {
  if (const auto moment = domain::parse_moment(text)) return *moment;
  const auto duration = domain::parse_duration(text);
  if (!duration) return not_valid("since", text, "neither a duration, like 10m, nor a time, like 2026-12-03T14:00");
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()) - *duration;
}

Result<control::AuditQuery> query_of(const Arguments& arguments) {
  control::AuditQuery query{.run = arguments.positionals.empty() ? "" : arguments.positionals.front(),
                            .only_denied = arguments.has("denied")};
  if (arguments.has("since")) {
    ASSIGN_OR_RETURN(query.since, since_of(arguments.value("since")));
  }
  if (arguments.has("last")) {
    query.last = domain::parse_count(arguments.value("last"));
    if (!query.last) return not_valid("last", arguments.value("last"), "not a whole number above zero");
  }
  return query;
}

std::string_view nothing_found(const control::AuditQuery& query) {
  if (query.since) return "cofferdam: nothing since then\n";
  return query.only_denied ? "cofferdam: nothing was refused\n" : "cofferdam: no decision is recorded\n";
}

}  // namespace

int run_audit(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto query = query_of(arguments);
  if (!query) {
    report(invocation.console, query.error());
    return kExitUsage;
  }
  const auto lines = invocation.program.services.read_decisions(*query);
  if (!lines) {
    report(invocation.console, lines.error());
    return kExitFailure;
  }
  if (arguments.value("output") == "json") {
    for (const std::string& line : *lines) invocation.console.out(line + "\n");
  } else if (lines->empty()) {
    invocation.console.err(nothing_found(*query));
  } else {
    invocation.console.out(as_table(*lines));
  }
  return kExitSuccess;
}

}  // namespace cofferdam::cli
