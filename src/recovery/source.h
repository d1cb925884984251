// A sandbox's workspace as recovery sees it. A provider implements Transport, which is one command with its streams;
// CommandSource (command_source.h) makes a Source of that. A provider with better means (a bulk download) implements
// Source itself, and everything that recovery promises holds as long as it keeps what is written here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/path_set.h"

namespace cofferdam::recovery {

struct ExecRequest {
  std::vector<std::string> command;  // argv; looked up in the sandbox's PATH
  std::string input;                 // what standard input holds
  std::chrono::milliseconds timeout{120'000};
};

struct ExecOutcome {
  int exit_code = 0;       // 126 and 127: it could not be started; 128 + n when signal n ended it
  std::string error_text;  // the last kErrorTextBytes of standard error
};
inline constexpr std::size_t kErrorTextBytes = 4'000;

// A command that runs in the sandbox. Destroying it ends the command, whatever it was doing. One thread.
class Execution {
 public:
  virtual ~Execution() = default;
  // Up to `size` (at least 1) bytes of standard output; 0 at its end. kTimedOut beyond the request's time; other
  // errors are of the connection.
  virtual Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  // How it ended; to be asked after read() gave 0.
  virtual Result<ExecOutcome> finish() = 0;
};

// All that a provider must be able to do. A command is started once; nothing here repeats one.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<std::unique_ptr<Execution>> start(const ExecRequest& request) = 0;
};

enum class SourceKind : std::uint8_t { kDirectory, kFile, kSymlink, kSocket, kFifo, kDevice, kUnknown };

// One thing in the workspace with what identifies it. `path` is as in workspace::Entry; "" is the root itself.
struct SourceEntry {
  std::string path;
  SourceKind kind = SourceKind::kUnknown;
  std::uint32_t mode = 0;  // & 07777
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::string target;  // of a link
  bool operator==(const SourceEntry&) const = default;
};

// Nothing here writes in the sandbox but what a caller asks exec() for. `exclude` holds literal paths below the root;
// each stands for itself and everything below, and nothing else is left out. Errors are failures (failure.h). One
// thread.
class Source {
 public:
  virtual ~Source() = default;

  // Everything below the root and the root itself, sorted by path, bytewise. No link is followed and no other file
  // system entered; the mount point itself is listed.
  virtual Result<std::vector<SourceEntry>> inventory(const workspace::PathSet& exclude) = 0;

  // `length` bytes of the regular file `path` from `offset` on; fewer only where it ends. Never waits for a FIFO, never
  // follows a link at `path`.
  virtual Result<std::string> read(const std::string& path, std::uint64_t offset, std::size_t length) = 0;

  // The workspace as a pax archive (plain or one zstd frame), names relative to the root, hard links as files of their
  // own, sockets left out. Exit code 0: complete; 1: something changed while it was read; others: it failed.
  virtual Result<std::unique_ptr<Execution>> stream(const workspace::PathSet& exclude) = 0;

  // A command in the sandbox.
  virtual Result<std::unique_ptr<Execution>> exec(const ExecRequest& request) = 0;

  // The workspace's absolute path in the sandbox.
  virtual const std::string& root() const = 0;
};

struct ExecResult {
  ExecOutcome outcome;
  std::string output;
};

// Reads what is left of a command's output, at most `limit` bytes (kResourceExhausted beyond), and how it ended.
Result<ExecResult> collect(Execution& execution, std::size_t limit);

}  // namespace cofferdam::recovery
