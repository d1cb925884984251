#include "workspace/merge_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include "base/strings.h"

namespace cofferdam::workspace {
namespace {

constexpr const char* kOriginals = "originals";
constexpr unsigned kMostCopies = 10'000;

Result<UniqueFd> make_directory(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return Error::from_errno(errno, "make the directory " + name);
  }
  return system::open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
}

Result<UniqueFd> open_if_there(int parent, const std::string& name) {
  auto opened = system::open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
  if (!opened && opened.error().code() == ErrorCode::kNotFound) return UniqueFd();
  return opened;
}

bool can_rename_between(int from, int to) {
  constexpr const char* kProbe = "probe";
  if (::mkdirat(from, kProbe, S_IRWXU) != 0) return false;
  const bool moved = ::renameat(from, kProbe, to, kProbe) == 0;
  (void)::unlinkat(moved ? to : from, kProbe, AT_REMOVEDIR);
  return moved;
}

}  // namespace

Result<MergePlaces> MergePlaces::create(int target, const MergeJournal& journal) {
  MergePlaces places(target);
  ASSIGN_OR_RETURN(places.staging_, make_directory(target, journal.staging_name()));
  ASSIGN_OR_RETURN(places.originals_, make_directory(journal.directory(), kOriginals));
  if (can_rename_between(places.staging_.get(), places.originals_.get())) return places;
  if (::unlinkat(journal.directory(), kOriginals, AT_REMOVEDIR) != 0) {
    return Error::from_errno(errno, "remove an unused directory of the journal");
  }
  ASSIGN_OR_RETURN(places.originals_, make_directory(places.staging_.get(), kOriginals));
  return places;
}

Result<MergePlaces> MergePlaces::reopen(int target, const MergeJournal& journal) {
  MergePlaces places(target);
  ASSIGN_OR_RETURN(places.staging_, open_if_there(target, journal.staging_name()));
  ASSIGN_OR_RETURN(places.originals_, open_if_there(journal.directory(), kOriginals));
  if (!places.originals_ && places.staging_) {
    ASSIGN_OR_RETURN(places.originals_, open_if_there(places.staging_.get(), kOriginals));
  }
  return places;
}

Result<std::string> move_beside(MergeJournal& journal, std::size_t number, const Place& from, int parent,
                                const std::string& path, const std::string& first, FaultPoint* faults) {
  ASSIGN_OR_RETURN(const auto status, look_at(from));
  const bool is_directory = status && S_ISDIR(status->st_mode);
  for (unsigned count = first.empty() ? 1 : 0; count < kMostCopies; ++count) {
    const std::string candidate = count == 0 ? first : conflict_copy_path(path, journal.run_id(), count, is_directory);
    const Place to{parent, std::string(system::base_name(candidate))};
    ASSIGN_OR_RETURN(const auto taken, look_at(to));
    if (taken) continue;
    RETURN_IF_ERROR(reach(faults, "aside.record"));
    RETURN_IF_ERROR(journal.record_aside(number, candidate));
    RETURN_IF_ERROR(reach(faults, "aside.rename"));
    ASSIGN_OR_RETURN(const bool moved, rename_to_free(from, to));
    if (moved) return candidate;
  }
  return Error(ErrorCode::kResourceExhausted, "no free name for a conflict copy of " + printable(path));
}

}  // namespace cofferdam::workspace
