#include "cli/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/strings.h"
#include "base/unique_fd.h"

namespace cofferdam::cli {

Result<std::string> read_text_file(const std::string& path, std::size_t largest) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return Error::from_errno(errno, printable(path));
  std::string out;
  std::array<char, 16'384> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, printable(path));
    if (count == 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
    if (out.size() > largest) {
      return Error(ErrorCode::kInvalidArgument,
                   printable(path) + ": larger than " + std::to_string(largest) + " bytes");
    }
  }
}

}  // namespace cofferdam::cli
