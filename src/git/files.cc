#include "git/files.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

// An empty owner when the file is absent.
Result<UniqueFd> open_regular(int root, const std::string& path, std::uint64_t limit) {
  auto file = system::open_beneath(root, path, O_RDONLY);
  if (!file && file.error().code() == ErrorCode::kNotFound) return UniqueFd();
  if (!file) return std::move(file.error());
  ASSIGN_OR_RETURN(const system::FileIdentity identity, system::identity_of(file->get()));
  if (!S_ISREG(identity.mode)) {
    return Error(ErrorCode::kFailedPrecondition, printable(path) + " in the Git directory is not a regular file");
  }
  if (identity.size > limit) {
    return Error(ErrorCode::kResourceExhausted,
                 printable(path) + " in the Git directory is longer than " + std::to_string(limit) + " bytes");
  }
  return file;
}

}  // namespace

Result<std::optional<std::string>> read_optional(int root, const std::string& path, std::size_t limit) {
  ASSIGN_OR_RETURN(const UniqueFd file, open_regular(root, path, limit));
  if (!file) return std::optional<std::string>();
  ASSIGN_OR_RETURN(std::string content, system::read_up_to(file.get(), limit));
  return std::optional(std::move(content));
}

Status write_new(int root, const std::string& path, std::string_view content, unsigned mode) {
  ASSIGN_OR_RETURN(const UniqueFd file, system::open_beneath(root, path, O_WRONLY | O_CREAT | O_EXCL, mode));
  return in_context(system::write_all(file.get(), content, printable(path)), printable(path));
}

Result<bool> copy_optional(int from, const std::string& path, int to, const std::string& target, std::uint64_t limit) {
  ASSIGN_OR_RETURN(const UniqueFd source, open_regular(from, path, limit));
  if (!source) return false;
  ASSIGN_OR_RETURN(const UniqueFd copy, system::open_beneath(to, target, O_WRONLY | O_CREAT | O_EXCL, 0600));
  RETURN_IF_ERROR(in_context(append_file(source.get(), copy.get()), printable(path)));
  return true;
}

Status append_file(int from, int to) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  ssize_t count = 1;
  while (count > 0) {
    count = ::sendfile(to, from, nullptr, kPiece);
    if (count < 0 && errno == EINTR) count = 1;
  }
  if (count < 0) return Error::from_errno(errno, "copy a file of the Git directory");
  return {};
}

}  // namespace cofferdam::git
