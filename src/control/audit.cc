#include "control/audit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "system/state_dir.h"

namespace cofferdam::control {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMaxLogBytes = 64 * 1024 * 1024;  // four times the bound that the proxy keeps
constexpr std::size_t kMaxRuns = 10'000;
constexpr const char* kLogName = "decisions.jsonl";

// A run's identifier is a single path component of ours; anything else must not reach the file system.
bool is_run_id(std::string_view text) {
  if (text.empty() || text.size() > 128 || text.front() == '.') return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

struct RecordedRun {
  std::string id;
  std::int64_t begun_ns = 0;
};

std::vector<RecordedRun> list_runs(int directory) {
  std::vector<RecordedRun> out;
  DIR* stream = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 3));
  if (stream == nullptr) return out;
  while (const dirent* entry = ::readdir(stream)) {
    if (!is_run_id(entry->d_name) || out.size() >= kMaxRuns) continue;
    struct stat status{};
    if (::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) continue;
    out.push_back({entry->d_name, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  ::closedir(stream);
  std::ranges::sort(out, [](const RecordedRun& a, const RecordedRun& b) {
    return std::pair(a.begun_ns, std::string_view(a.id)) < std::pair(b.begun_ns, std::string_view(b.id));
  });
  return out;
}

Result<std::string> read_log(int file) {
  std::string text;
  std::array<char, 64 * 1024> piece;
  while (text.size() < kMaxLogBytes) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read a decision log");
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Empty when it is absent or no text.
std::string_view text_member(const json::object& decision, std::string_view name) {
  const json::value* value = decision.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

class Filter {
 public:
  explicit Filter(const AuditQuery& query)
      : only_denied_(query.only_denied), since_(query.since ? domain::moment_text(*query.since) : "") {}

  bool passes(std::string_view line) const {
    if (!only_denied_ && since_.empty()) return true;
    json::error_code failure;
    const json::value value = json::parse(line, failure);
    if (failure || !value.is_object()) return false;
    const json::object& decision = value.get_object();
    if (only_denied_ && text_member(decision, "verdict") != "deny") return false;
    return text_member(decision, "time") >= since_;
  }

 private:
  bool only_denied_;
  std::string since_;  // as the log writes it
};

// A last line without its end belongs to a proxy that is writing, or was killed while it wrote.
void append_lines(std::vector<std::string>& out, std::string_view text, const Filter& filter) {
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!line.empty() && filter.passes(line)) out.emplace_back(line);
  }
}

void keep_last(std::vector<std::string>& lines, std::optional<std::size_t> count) {
  if (!count || *count >= lines.size()) return;
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(*count));
}

// Nothing when the run has no log: it had no network, or only that of the host.
Result<std::optional<UniqueFd>> open_log(int runs, const std::string& id) {
  UniqueFd directory(::openat(runs, id.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return Error::from_errno(errno, "open the record of run " + id);
  UniqueFd file(::openat(directory.get(), kLogName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<UniqueFd>();
  if (!file) return Error::from_errno(errno, "open the decision log of run " + id);
  return std::optional<UniqueFd>(std::move(file));
}

}  // namespace

Result<std::vector<std::string>> read_decisions(const AuditQuery& query) {
  if (!query.run.empty() && !is_run_id(query.run)) {
    return Error(ErrorCode::kInvalidArgument, "\"" + printable(query.run) + "\" is no run identifier");
  }
  ASSIGN_OR_RETURN(const std::string state, system::state_directory());
  const std::string path = state + "/runs";
  const UniqueFd runs(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!runs && errno == ENOENT && query.run.empty()) return std::vector<std::string>();
  std::vector<RecordedRun> wanted = {{query.run, 0}};
  if (runs && query.run.empty()) wanted = list_runs(runs.get());
  const Filter filter(query);
  std::vector<std::string> out;
  for (const RecordedRun& run : wanted) {
    Result<std::optional<UniqueFd>> file = open_log(runs.get(), run.id);
    if (!file) {
      // A run that was swept while we read is no error; a run that was asked for and is not there is.
      if (query.run.empty() && file.error().code() == ErrorCode::kNotFound) continue;
      if (file.error().code() == ErrorCode::kNotFound || !runs) {
        return Error(ErrorCode::kNotFound, "there is no record of a run \"" + query.run + "\" in " + path)
            .with_hint("`cofferdam audit` without a run lists all of them.");
      }
      return std::move(file.error());
    }
    if (!*file) continue;
    ASSIGN_OR_RETURN(const std::string text, read_log((*file)->get()));
    append_lines(out, text, filter);
  }
  keep_last(out, query.last);
  return out;
}

}  // namespace cofferdam::control
