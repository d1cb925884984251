#include "control/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/strings.h"
#include "confinement/cgroup.h"
#include "control/placeholders.h"
#include "domain/path.h"
#include "system/file.h"
#include "system/state_dir.h"

namespace cofferdam::control {
namespace {

constexpr std::size_t kUndoBytes = std::size_t{4} << 20;
constexpr std::size_t kRunsKept = 500;
constexpr time_t kRunAgeKeptSeconds = 30L * 24 * 3600;
constexpr time_t kTrimEverySeconds = 3600;

// Time first, so that names sort by age; then enough chance that two never meet. Crockford's alphabet.
std::string new_run_id() {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t milliseconds =
      static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
  std::array<unsigned char, 10> chance{};
  (void)!::getrandom(chance.data(), chance.size(), 0);
  std::string id(20, '0');
  for (std::size_t index = 10; index-- > 0; milliseconds >>= 5) id[index] = kAlphabet[milliseconds & 31];
  for (std::size_t index = 0; index < chance.size(); ++index) id[10 + index] = kAlphabet[chance[index] & 31];
  return id;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, decltype(&::closedir)> stream(::opendir(directory.c_str()), &::closedir);
  if (!stream) return names;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

// Entries end with a NUL, since a path may hold any other byte.
std::string encode(const UndoList& list) {
  std::string out;
  const auto field = [&](std::string_view text) {
    out += text;
    out += '\0';
  };
  field("cofferdam-undo 1");
  for (const std::string& path : list.cgroups) {
    field("cgroup");
    field(path);
  }
  for (const confinement::Placeholder& placeholder : list.placeholders) {
    field(placeholder.is_directory ? "directory" : "file " + placeholder.content);
    field(placeholder.path);
  }
  return out;
}

UndoList decode(std::string_view bytes) {
  UndoList list;
  const std::vector<std::string_view> fields = split(bytes, '\0');
  if (fields[0] != "cofferdam-undo 1") return list;
  for (std::size_t index = 1; index + 1 < fields.size(); index += 2) {
    const std::string path(fields[index + 1]);
    if (fields[index] == "cgroup") {
      list.cgroups.push_back(path);
    } else {
      const std::string_view kind = fields[index];
      list.placeholders.push_back({.path = path,
                                   .is_directory = kind == "directory",
                                   .content = std::string(kind.starts_with("file ") ? kind.substr(5) : "")});
    }
  }
  return list;
}

// Returns what could not be undone yet.
UndoList undo(const UndoList& list) {
  for (const std::string& directory : list.cgroups) confinement::remove_cgroup(directory);
  UndoList rest;
  rest.placeholders = remove_placeholders(list.placeholders);
  return rest;
}

// Bounded, so that a stopped process stops nobody else; without the lock a start may only fail needlessly.
UniqueFd take_start_lock(const std::string& state) {
  constexpr int kAttempts = 5000;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  UniqueFd file(::open((state + "/start.lock").c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  for (int attempt = 0; file && attempt < kAttempts; ++attempt) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) break;
    ::nanosleep(&kPause, nullptr);
  }
  return file;
}

UniqueFd lock_folder(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) folder.reset();
  return folder;
}

// Removes a folder of ours and the files in it; it never holds directories.
void remove_folder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder) return;
  for (const std::string& name : names_in(path)) ::unlinkat(folder.get(), name.c_str(), 0);
  ::rmdir(path.c_str());
}

void file_away(const std::string& state, const std::string& run_id) {
  const std::string active = state + "/active/" + run_id;
  if (names_in(active).empty()) {
    ::rmdir(active.c_str());
    return;
  }
  ::rename(active.c_str(), (state + "/runs/" + run_id).c_str());
}

// Undoes and files one folder, of a run that ended or died.
void close_folder(const std::string& state, const std::string& run_id, const UndoList& list) {
  const std::string record = state + "/active/" + run_id + "/undo";
  const UndoList rest = undo(list);
  if (!rest.empty()) {
    (void)system::replace_file(record, encode(rest), 0600);
    return;
  }
  ::unlink(record.c_str());
  file_away(state, run_id);
}

void sweep_after_dead_runs(const std::string& state) {
  for (const std::string& run_id : names_in(state + "/active")) {
    const std::string path = state + "/active/" + run_id;
    const UniqueFd lock = lock_folder(path);
    if (!lock) continue;
    const auto record = system::read_file(path + "/undo", kUndoBytes);
    close_folder(state, run_id, record ? decode(*record) : UndoList());
  }
}

void trim_finished_runs(const std::string& state) {
  const std::string stamp = state + "/trimmed";
  struct stat status{};
  const time_t now = ::time(nullptr);
  if (::stat(stamp.c_str(), &status) == 0 && now - status.st_mtime < kTrimEverySeconds) return;
  (void)system::replace_file(stamp, "", 0600);
  std::vector<std::string> names = finished_runs(state);
  for (std::size_t index = 0; index < names.size(); ++index) {
    const std::string path = state + "/runs/" + names[index];
    const bool too_many = names.size() - index > kRunsKept;
    const bool too_old = ::stat(path.c_str(), &status) == 0 && now - status.st_mtime > kRunAgeKeptSeconds;
    if (too_many || too_old) remove_folder(path);
  }
}

Status make_state_directories(const std::string& state) {
  struct stat status{};
  if (::stat((state + "/active").c_str(), &status) == 0 && ::stat((state + "/runs").c_str(), &status) == 0) return {};
  RETURN_IF_ERROR(system::make_private_directories(state + "/active"));
  return system::make_private_directories(state + "/runs");
}

}  // namespace

Result<RunFolder> RunFolder::create() {
  RunFolder folder;
  ASSIGN_OR_RETURN(folder.state_, system::state_directory());
  RETURN_IF_ERROR(make_state_directories(folder.state_));
  folder.start_lock_ = take_start_lock(folder.state_);
  sweep_after_dead_runs(folder.state_);
  trim_finished_runs(folder.state_);
  folder.run_id_ = new_run_id();
  folder.path_ = folder.state_ + "/active/" + folder.run_id_;
  if (::mkdir(folder.path_.c_str(), 0700) != 0) return Error::from_errno(errno, "make " + folder.path_);
  folder.lock_ = lock_folder(folder.path_);
  if (!folder.lock_) return Error::from_errno(errno, "lock " + folder.path_);
  return folder;
}

RunFolder::~RunFolder() {
  if (!lock_) return;
  if (!start_lock_) start_lock_ = take_start_lock(state_);
  close_folder(state_, run_id_, undo_);
}

std::vector<confinement::Placeholder> RunFolder::placeholders_of_others() const {
  std::vector<confinement::Placeholder> out;
  for (const std::string& run_id : names_in(state_ + "/active")) {
    const auto record = run_id == run_id_ ? Result<std::string>(std::string())
                                          : system::read_file(state_ + "/active/" + run_id + "/undo", kUndoBytes);
    if (!record || record->empty()) continue;
    std::ranges::move(decode(*record).placeholders, std::back_inserter(out));
  }
  return out;
}

Status RunFolder::will_undo(UndoList list) {
  undo_ = std::move(list);
  if (undo_.empty()) return {};
  const std::string record = path_ + "/undo";
  const UniqueFd file(::open(record.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return Error::from_errno(errno, "make " + record);
  return system::write_all(file.get(), encode(undo_), record);
}

std::vector<std::string> finished_runs(const std::string& state_directory) {
  return names_in(state_directory + "/runs");
}

}  // namespace cofferdam::control
