#include "workspace/stable_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"

namespace cofferdam::workspace {
namespace {

// What the kernel answers for a name that has become something else than a readable regular file.
bool means_vanished(const Error& error) {
  return error.code() == ErrorCode::kNotFound;
}

Result<std::uint64_t> deliver(int fd, std::uint64_t size, const std::function<std::span<char>()>& room,
                              const std::function<Status(std::string_view)>& sink) {
  std::uint64_t delivered = 0;
  while (delivered < size) {
    const std::span<char> buffer = room();
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), size - delivered);
    const ssize_t count = ::read(fd, buffer.data(), wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read");
    if (count == 0) break;
    RETURN_IF_ERROR(sink({buffer.data(), static_cast<std::size_t>(count)}));
    delivered += static_cast<std::uint64_t>(count);
  }
  return delivered;
}

}  // namespace

Result<StableRead> read_stable(int root, const std::string& path, std::string& buffer,
                               const std::function<Status(std::string_view)>& sink) {
  return read_stable(root, path, [&buffer] { return std::span<char>(buffer); }, sink);
}

Result<StableRead> read_stable(int root, const std::string& path, const std::function<std::span<char>()>& room,
                               const std::function<Status(std::string_view)>& sink) {
  struct stat status{};
  auto file = system::open_beneath(root, path, O_RDONLY);
  if (!file) {
    // A link, FIFO without reader or socket in its place fails to open in ways of its own: ask what is there now.
    if (means_vanished(file.error())) return StableRead{};
    auto now = system::status_beneath(root, path);
    if (!now ? means_vanished(now.error()) : !S_ISREG(now->st_mode)) return StableRead{};
    return std::move(file.error());
  }
  if (::fstat(file->get(), &status) != 0) return Error::from_errno(errno, "look at " + printable(path));
  if (!S_ISREG(status.st_mode)) return StableRead{};
  const system::FileIdentity before = system::identity_of(status);
  ASSIGN_OR_RETURN(const std::uint64_t delivered,
                   in_context(deliver(file->get(), before.size, room, sink), printable(path)));
  ASSIGN_OR_RETURN(const system::FileIdentity after, system::identity_of(file->get()));
  const bool stable = before == after && delivered == before.size;
  return StableRead{stable ? ReadOutcome::kStable : ReadOutcome::kChanged, before};
}

Error changed_while_read(const std::string& path) {
  return Error(ErrorCode::kFailedPrecondition,
               printable(path) + " changed every time it was read, " + std::to_string(kReadAttempts) + " times")
      .with_hint("Stop what writes it, or leave it out: --exclude " + shell_quoted(printable(path)))
      .with_retry(RetryClass::kLater);
}

}  // namespace cofferdam::workspace
