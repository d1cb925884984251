#include "cli/save_text.h"

#include "base/strings.h"
#include "cli/paths.h"
#include "cli/snapshot_text.h"
#include "domain/path.h"
#include "domain/quantity.h"

namespace cofferdam::cli {
namespace {

constexpr int kHighestLevel = 19;
constexpr int kUsualLevel = 3;

}  // namespace

Result<int> level_of(const Arguments& arguments) {
  if (!arguments.has("level")) return kUsualLevel;
  const auto level = domain::parse_count(arguments.value("level"));
  if (level && *level <= kHighestLevel) return static_cast<int>(*level);
  return Error(ErrorCode::kInvalidArgument,
               "--level: \"" + std::string(arguments.value("level")) + "\" is no number from 1 to 19");
}

Result<std::vector<std::string>> exclusions(const Arguments& arguments) {
  std::vector<std::string> out;
  for (const std::string& written : arguments.all("exclude")) {
    const auto normal = domain::normalized_absolute("/" + written);
    const bool leaves = written.starts_with('/') || contains_parent_step(written);
    if (leaves || !normal || *normal == "/") {
      return Error(ErrorCode::kInvalidArgument, "--exclude: \"" + written + "\" is no path below the directory")
          .with_hint("Paths to leave out are written relative to the directory: --exclude build");
    }
    out.push_back(normal->substr(1));
  }
  return out;
}

boost::json::object capture_json(const snapshot::CaptureReport& report) {
  boost::json::array unsettled;
  for (const std::string& path : report.unsettled) unsettled.push_back(path_json(path));
  boost::json::array stripped;
  for (const std::string& path : report.stripped_modes) stripped.push_back(path_json(path));
  return {{"id", report.snapshot},
          {"fingerprint", report.fingerprint.hex()},
          {"files", report.files},
          {"directories", report.directories},
          {"links", report.links},
          {"bytes", report.bytes},
          {"readFiles", report.read_files},
          {"newChunks", report.new_chunks},
          {"newBytes", report.new_bytes},
          {"storedBytes", report.stored_bytes},
          {"omitted", omissions_json(report.omissions)},
          {"strippedModes", std::move(stripped)},
          {"unsettled", std::move(unsettled)}};
}

std::string capture_text(const snapshot::CaptureReport& report) {
  return report.snapshot + "\n" + std::to_string(report.files) + " files, " + std::to_string(report.directories) +
         " directories, " + std::to_string(report.links) + " links: " + size_text(report.bytes) +
         "; new: " + size_text(report.new_bytes) + ", stored as " + size_text(report.stored_bytes) + "\n" +
         omissions_text(report.omissions);
}

void warn_of_capture(Console& console, const snapshot::CaptureReport& report) {
  for (const std::string& path : report.stripped_modes) {
    console.err("cofferdam: " + printable(path) + ": its set-id or sticky bit is not saved\n");
  }
  for (const std::string& path : report.unsettled) {
    console.err("cofferdam: " + printable(path) + " changed while it was saved\n");
  }
}

void warn_of_new_key(Console& console, const std::string& origin) {
  console.err("cofferdam: a new key was made in " + printable(origin) +
              ". Without it nothing that is saved can be read:\n"
              "  keep a copy elsewhere: cofferdam key export > FILE\n");
}

}  // namespace cofferdam::cli
