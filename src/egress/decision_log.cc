#include "egress/decision_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/strings.h"

namespace cofferdam::egress {
namespace {

constexpr std::size_t kFlushBytes = 64 * 1024;
constexpr std::size_t kMaxTextBytes = 1024;  // of one member; longer text is cut

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : printable(text.substr(0, kMaxTextBytes))) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json(out, value);
}

void append_member(std::string& out, std::string_view name, std::uint64_t value) {
  out += ",\"";
  out += name;
  out += "\":";
  out += std::to_string(value);
}

// RFC 3339 in UTC with milliseconds.
std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since_epoch / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string millis = std::to_string(1000 + since_epoch % 1000);
  return std::string(text.data(), length) + "." + millis.substr(1) + "Z";
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string to_json_line(std::string_view run_id, const DecisionRecord& record) {
  std::string out = "{\"time\":\"" + time_text(record.time) + "\"";
  append_member(out, "run", run_id);
  append_member(out, "host", record.host);
  append_member(out, "port", record.port);
  append_member(out, "address", record.address);
  append_member(out, "method", record.method);
  append_member(out, "verdict", record.allowed ? "allow" : "deny");
  append_member(out, "rule", record.rule.empty() ? "no rule" : record.rule);
  if (!record.allowed) append_member(out, "reason", record.reason);
  if (!record.failure.empty()) append_member(out, "failure", record.failure);
  append_member(out, "bytes_up", record.bytes_up);
  append_member(out, "bytes_down", record.bytes_down);
  append_member(out, "duration_ms", static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.duration.count())));
  return out + "}";
}

DecisionLog::DecisionLog(async::Executor executor, UniqueFd file, std::string run_id, std::uint64_t max_bytes)
    : flush_time_(executor), file_(std::move(file)), run_id_(std::move(run_id)), max_bytes_(max_bytes) {
  struct stat status{};
  if (file_ && ::fstat(file_.get(), &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

void DecisionLog::add(const DecisionRecord& record) {
  count(record);
  if (!file_) return;
  pending_ += to_json_line(run_id_, record);
  pending_ += '\n';
  if (pending_.size() >= kFlushBytes) return flush();
  if (!std::exchange(flush_planned_, true)) plan_flush();
}

void DecisionLog::plan_flush() {
  flush_time_.expires_after(kFlushDelay);
  flush_time_.async_wait([this](const boost::system::error_code& failure) {
    if (!failure) flush();
  });
}

void DecisionLog::flush() {
  if (std::exchange(flush_planned_, false)) flush_time_.cancel();
  if (pending_.empty() || !file_) return;
  if (size_ + pending_.size() > max_bytes_) drop_older_half();
  if (write_all(file_.get(), pending_)) {
    size_ += pending_.size();
  } else {
    summary_.log_failures += static_cast<std::uint64_t>(std::ranges::count(pending_, '\n'));
  }
  pending_.clear();
}

void DecisionLog::count(const DecisionRecord& record) {
  summary_.bytes_up += record.bytes_up;
  summary_.bytes_down += record.bytes_down;
  if (record.allowed) {
    ++(record.failure.empty() ? summary_.allowed : summary_.failed);
    return;
  }
  ++summary_.denied;
  if (record.host.empty()) return;  // a malformed request names no destination
  const auto same = [&](const RefusedDestination& one) {
    return one.host == record.host && one.port == record.port && one.reason == record.reason && one.rule == record.rule;
  };
  if (const auto found = std::ranges::find_if(summary_.refused, same); found != summary_.refused.end()) {
    ++found->count;
  } else if (summary_.refused.size() < EgressSummary::kMaxRefused) {
    summary_.refused.push_back({printable(record.host), record.port, record.reason, record.rule, 1});
  } else {
    ++summary_.refused_omitted;
  }
}

// In place, because the process may have no right to create files where the log lies.
void DecisionLog::drop_older_half() {
  const std::uint64_t keep = std::min(size_, max_bytes_ / 2);
  std::string tail(keep, '\0');
  const ssize_t got = ::pread(file_.get(), tail.data(), tail.size(), static_cast<off_t>(size_ - keep));
  tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (keep < size_) tail.erase(0, std::min(tail.find('\n'), tail.size() - 1) + 1);
  if (::ftruncate(file_.get(), 0) != 0) return;
  size_ = write_all(file_.get(), tail) ? tail.size() : 0;
}

}  // namespace cofferdam::egress
