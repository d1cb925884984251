#include "cli/text_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "system/file.h"

#ifndef PIPEFS_MAGIC
#define PIPEFS_MAGIC 0x50495045
#endif

namespace cofferdam::cli {
namespace {

// A pipe that has no name: /dev/stdin behind `|`, or what `<(command)` gives. Its writer is there or has ended, while
// that of a named one may never come.
bool is_nameless_pipe(int file, const struct stat& status) {
  struct statfs system{};
  return S_ISFIFO(status.st_mode) && ::fstatfs(file, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

// Opened without waiting for anybody; reading a nameless pipe waits for its writer.
Result<UniqueFd> open_text(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return Error::from_errno(errno, printable(path));
  if (S_ISREG(status.st_mode)) return file;
  if (S_ISDIR(status.st_mode)) return Error::from_errno(EISDIR, printable(path));
  if (!is_nameless_pipe(file.get(), status)) {
    return Error(ErrorCode::kInvalidArgument, printable(path) + ": not a regular file")
        .with_hint("Name a file, or give the text through a pipe: <(command), or /dev/stdin after \"|\".");
  }
  if (::fcntl(file.get(), F_SETFL, 0) != 0) return Error::from_errno(errno, printable(path));
  return file;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t largest) {
  ASSIGN_OR_RETURN(const UniqueFd file, open_text(path));
  ASSIGN_OR_RETURN(std::string text, in_context(system::read_up_to(file.get(), largest + 1), printable(path)));
  if (text.size() <= largest) return text;
  return Error(ErrorCode::kInvalidArgument, printable(path) + ": larger than " + std::to_string(largest) + " bytes");
}

}  // namespace cofferdam::cli
