#include "recovery/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/strings.h"
#include "recovery/failure.h"
#include "workspace/inventory.h"

namespace cofferdam::recovery {
namespace {

constexpr const char* kTree = "tree";
constexpr std::string_view kPrefix = "recover-";
constexpr std::uint64_t kBytesPerEntry = 4'096;  // what a file system takes for an entry besides its content, at most

// Copies whose owner is dead: his lock went with him. The caller holds the lock of `scratch`, so that nobody is between
// making his directory and locking it.
Status remove_abandoned(int scratch) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(scratch));
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    const auto place = system::open_beneath(scratch, name, O_RDONLY | O_DIRECTORY);
    if (!place || ::flock(place->get(), LOCK_EX | LOCK_NB) != 0) continue;
    RETURN_IF_ERROR(system::remove_tree_at(scratch, name));
  }
  return {};
}

}  // namespace

Result<Staging> Staging::create(const std::string& scratch) {
  ASSIGN_OR_RETURN(const UniqueFd above, system::open_directory(scratch));
  if (::flock(above.get(), LOCK_EX) != 0) return Error::from_errno(errno, "lock " + printable(scratch));
  RETURN_IF_ERROR(remove_abandoned(above.get()));
  ASSIGN_OR_RETURN(system::TemporaryDirectory place, system::TemporaryDirectory::create(scratch, kPrefix));
  if (::flock(place.fd(), LOCK_EX | LOCK_NB) != 0) return Error::from_errno(errno, "lock the directory of the copy");
  if (::mkdirat(place.fd(), kTree, S_IRWXU) != 0) return Error::from_errno(errno, "make the directory of the copy");
  ASSIGN_OR_RETURN(UniqueFd root, system::open_beneath(place.fd(), kTree, O_RDONLY | O_DIRECTORY));
  std::string tree = place.path() + "/" + kTree;
  return Staging(std::move(place), std::move(root), std::move(tree));
}

Status Staging::check_room(std::uint64_t bytes, std::uint64_t entries) const {
  struct statvfs room{};
  if (::fstatvfs(root_.get(), &room) != 0) return Error::from_errno(errno, "look for room for the copy");
  const std::uint64_t needed = bytes + entries * kBytesPerEntry;
  const std::uint64_t free = room.f_bavail * room.f_frsize;
  if (free < needed) {
    return failure(Failure::kControllerDiskFull, "the copy needs " + std::to_string(needed) + " bytes in " +
                                                     printable(place_.path()) + ", which has " + std::to_string(free));
  }
  if (room.f_files != 0 && room.f_favail < entries) {
    return failure(Failure::kControllerDiskFull,
                   printable(place_.path()) + " has no room for " + std::to_string(entries) + " files");
  }
  return {};
}

Result<workspace::Extracted> Staging::receive(const workspace::ByteSource& bytes,
                                              const workspace::ArchiveRules& rules) const {
  return workspace::extract_archive(bytes, root_.get(), {.rules = rules});
}

Status Staging::set_root_mode(std::uint32_t mode) const {
  if (::fchmod(root_.get(), (mode & workspace::kPermissionBits) | S_IRWXU) == 0) return {};
  return Error::from_errno(errno, "set the mode of the copy");
}

Result<workspace::Inventory> Staging::inventory() const {
  return workspace::take_inventory(root_.get(), {});
}

workspace::ByteSource bytes_of(Execution& stream) {
  return [&stream](char* buffer, std::size_t size) { return stream.read(buffer, size); };
}

std::optional<std::string> first_difference(const std::vector<workspace::Entry>& left,
                                            const std::vector<workspace::Entry>& right) {
  const auto same = [](const workspace::Entry& one, const workspace::Entry& other) { return one.same_content(other); };
  const auto [one, other] = std::ranges::mismatch(left, right, same);
  if (one == left.end() && other == right.end()) return std::nullopt;
  if (one == left.end()) return other->path;
  if (other == right.end()) return one->path;
  return std::min(one->path, other->path);
}

std::vector<workspace::Entry> without_content(std::vector<workspace::Entry> entries) {
  for (workspace::Entry& entry : entries) entry.digest = {};
  return entries;
}

bool is_disk_full(const Error& error) {
  const auto says = [&](int number) { return error.message().ends_with(std::generic_category().message(number)); };
  return error.code() == ErrorCode::kResourceExhausted && (says(ENOSPC) || says(EDQUOT));
}

}  // namespace cofferdam::recovery
