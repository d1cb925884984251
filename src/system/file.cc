#include "system/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace cofferdam::system {

Result<std::string> read_up_to(int fd, std::size_t limit) {
  std::string out;
  char chunk[16384];
  while (out.size() < limit) {
    const std::size_t wanted = std::min(sizeof chunk, limit - out.size());
    const ssize_t count = ::read(fd, chunk, wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read");
    if (count == 0) break;
    out.append(chunk, static_cast<std::size_t>(count));
  }
  return out;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "open " + path);
  ASSIGN_OR_RETURN(std::string content, in_context(read_up_to(file.get(), limit + 1), path));
  if (content.size() > limit) {
    return Error(ErrorCode::kResourceExhausted, path + " is longer than " + std::to_string(limit) + " bytes");
  }
  return content;
}

Status write_all(int fd, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "write " + std::string(name));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<UniqueFd> memory_file(const char* name, std::string_view content) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) return Error::from_errno(errno, "make an anonymous file");
  RETURN_IF_ERROR(write_all(file.get(), content, "an anonymous file"));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return Error::from_errno(errno, "rewind an anonymous file");
  return file;
}

Status replace_file(const std::string& path, std::string_view content, unsigned mode) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "make a temporary file beside " + path);
  Status written = write_all(file.get(), content, path);
  if (written && ::fchmod(file.get(), mode) != 0) written = Error::from_errno(errno, "set the mode of " + temporary);
  if (written && ::fsync(file.get()) != 0) written = Error::from_errno(errno, "synchronise " + temporary);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = Error::from_errno(errno, "rename " + temporary + " to " + path);
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Status can_make_beside(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "make a temporary file beside " + path);
  ::unlink(temporary.c_str());
  return {};
}

UniqueFd open_without_links(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

Status make_private_directories(const std::string& path) {
  for (std::size_t slash = 1; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    const std::string prefix = path.substr(0, slash);
    if (::mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST) return Error::from_errno(errno, "make " + prefix);
  }
  return {};
}

}  // namespace cofferdam::system
