// Reading a file that somebody may be changing, and knowing whether what was read is one state of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "system/tree.h"

namespace cofferdam::workspace {

// How reading one file ended.
enum class ReadOutcome : std::uint8_t {
  kStable,    // the file had the returned identity before and after, and every byte of its size was delivered
  kChanged,   // it changed while it was read: what was delivered is worth nothing
  kVanished,  // it is not there, or it is no regular file any more
};

struct StableRead {
  ReadOutcome outcome = ReadOutcome::kVanished;
  system::FileIdentity identity;
};

// Reads `path` beneath `root` once, giving its bytes to `sink` in pieces of at most `buffer.size()`. Errors are those
// of reading (EACCES, EIO), with the path, and of the sink.
Result<StableRead> read_stable(int root, const std::string& path, std::string& buffer,
                               const std::function<Status(std::string_view)>& sink);

// The same, read to where `room` says, asked before each piece; never empty. `sink` gets the part of it that was
// filled.
Result<StableRead> read_stable(int root, const std::string& path, const std::function<std::span<char>()>& room,
                               const std::function<Status(std::string_view)>& sink);

// How often a file that changes while it is read is read again before that is an error.
inline constexpr int kReadAttempts = 3;
Error changed_while_read(const std::string& path);

}  // namespace cofferdam::workspace
