#include "cli/snapshot_text.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/hex.h"
#include "base/strings.h"
#include "domain/moment.h"

namespace cofferdam::cli {
namespace {

constexpr std::size_t kShown = 20;
constexpr std::size_t kShortId = 15;

bool is_utf8_text(std::string_view bytes) {
  return printable(bytes) == bytes;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  constexpr double kStep = 1024.0;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= kStep && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string time_text(std::int64_t ms) {
  std::string text = domain::moment_text(domain::Moment(std::chrono::milliseconds(ms)));
  text[text.find('T')] = ' ';
  return text.substr(0, text.find('.'));
}

std::string short_id(const std::string& id) {
  return id.substr(0, kShortId);
}

boost::json::value path_json(std::string_view path) {
  if (is_utf8_text(path)) return boost::json::string(path);
  return boost::json::object{{"hex", to_hex(path)}};
}

boost::json::object snapshot_json(const store::SnapshotRecord& record) {
  boost::json::error_code error;
  boost::json::value summary = boost::json::parse(record.summary, error);
  return {{"id", record.id},
          {"company", record.company},
          {"workspace", path_json(record.workspace)},
          {"label", path_json(record.label)},
          {"state", store::to_string(record.state)},
          {"createdAt", domain::moment_text(domain::Moment(std::chrono::milliseconds(record.created_ms)))},
          {"committedAt", domain::moment_text(domain::Moment(std::chrono::milliseconds(record.committed_ms)))},
          {"keyId", record.key_id},
          {"manifestBytes", record.manifest_size},
          {"summary", error ? boost::json::value() : std::move(summary)}};
}

boost::json::array omissions_json(const std::vector<workspace::Omission>& omissions) {
  boost::json::array out;
  for (const workspace::Omission& omission : omissions) {
    out.push_back(
        boost::json::object{{"path", path_json(omission.path)}, {"reason", workspace::to_string(omission.reason)}});
  }
  return out;
}

std::string omissions_text(const std::vector<workspace::Omission>& omissions) {
  if (omissions.empty()) return {};
  std::map<std::string_view, std::size_t> counts;
  for (const workspace::Omission& omission : omissions) ++counts[workspace::to_string(omission.reason)];
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(std::to_string(count) + " " + std::string(reason));
  std::string out = "left out: " + join(parts, ", ") + "\n";
  for (std::size_t i = 0; i < omissions.size() && i < kShown; ++i) {
    out += "  " + printable(omissions[i].path) + "  (" + workspace::to_string(omissions[i].reason) + ")\n";
  }
  if (omissions.size() > kShown) out += "  … and " + std::to_string(omissions.size() - kShown) + " more\n";
  return out;
}

std::string removal_text(const std::vector<store::SnapshotRecord>& removed, const snapshot::CollectReport& collected) {
  std::string out;
  for (const store::SnapshotRecord& record : removed) out += "deleted " + record.id + "\n";
  return out + "freed " + size_text(collected.bytes) + "\n";
}

std::string company_of(const Arguments& arguments) {
  if (arguments.has("company")) return std::string(arguments.value("company"));
  const char* const from_environment = std::getenv("COFFERDAM_COMPANY");
  return from_environment != nullptr && *from_environment != '\0' ? from_environment : control::kUsualCompany;
}

bool wants_json(const Arguments& arguments) {
  return arguments.value("output") == "json";
}

int failed(const Invocation& invocation, const Error& error) {
  report(invocation.console, error);
  return error.code() == ErrorCode::kInvalidArgument ? kExitUsage : kExitFailure;
}

}  // namespace cofferdam::cli
