// Where the proxy writes down every decision, and what it tells about them at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "base/unique_fd.h"
#include "egress/config.h"

namespace cofferdam::egress {

struct DecisionRecord {
  std::chrono::system_clock::time_point time;  // when the client asked
  std::string host;                            // canonical; empty when the request named none
  std::uint16_t port = 0;
  std::string address;  // that was dialled; empty when nothing was
  std::string method;   // CONNECT, GET …; DIRECT for a loopback forward
  bool allowed = false;
  std::string rule;     // its text; empty: no rule
  std::string reason;   // of a refusal
  std::string failure;  // why an allowed destination was not reached
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::chrono::milliseconds duration{0};
};

// One line without its line break. All text is escaped: bytes that are no UTF-8 appear as \xNN in the text.
std::string to_json_line(std::string_view run_id, const DecisionRecord& record);

// Appends lines to the log and counts. Lines of kFlushDelay go out in one write, so that a process that is killed
// loses no more than those. When the file grows past its bound the older half is dropped, whole lines only. A line that
// cannot be written (disk full) is counted in the summary: a full disk must not cut the agent off. Used on the loop
// only.
class DecisionLog {
 public:
  static constexpr std::chrono::milliseconds kFlushDelay{10};

  // `file` is open for reading and appending; none: decisions are only counted.
  DecisionLog(async::Executor executor, UniqueFd file, std::string run_id, std::uint64_t max_bytes);
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void add(const DecisionRecord& record);
  void flush();
  const EgressSummary& summary() const { return summary_; }

 private:
  void count(const DecisionRecord& record);
  void drop_older_half();

  void plan_flush();

  async::Timer flush_time_;
  UniqueFd file_;
  const std::string run_id_;
  const std::uint64_t max_bytes_;
  std::uint64_t size_ = 0;
  std::string pending_;
  bool flush_planned_ = false;
  EgressSummary summary_;
};

}  // namespace cofferdam::egress
