#include "snapshot/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "crypto/seal.h"
#include "snapshot/chunk_index.h"
#include "snapshot/content_writer.h"
#include "snapshot/git_parts.h"
#include "snapshot/segment_reader.h"
#include "system/file.h"
#include "system/parallel.h"
#include "system/tree.h"
#include "workspace/file_time.h"
#include "workspace/link_rule.h"

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;
using workspace::EntryKind;

constexpr unsigned kPrivateDirectory = 0700;
constexpr unsigned kPrivateFile = 0600;
constexpr std::size_t kSuffixBytes = 8;
constexpr std::size_t kLargestSettings = std::size_t{4} << 20;

// A place of a file that one chunk fills.
struct Destination {
  const SavedEntry* saved = nullptr;
  const Digest* digest = nullptr;
  std::uint64_t offset = 0;  // in the file
  ChunkLocation place;
};

// All chunks that one segment gives.
using Segments = std::map<std::pair<std::string_view, std::uint64_t>, std::vector<Destination>>;

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// The entries that were asked for, their paths relative to the target; an empty path is the target itself.
class Selection {
 public:
  static Result<Selection> make(const Manifest& manifest, const RestoreRequest& request) {
    Selection selection{GitParts(manifest.entries)};
    selection.base_ = request.path;
    for (const SavedEntry& saved : manifest.entries) {
      const std::string& path = saved.entry.path;
      if (!request.path.empty() && path != request.path && !is_below(path, request.path)) continue;
      const bool safe = !selection.git_.is_hook(path) && selection.link_stays_inside(saved.entry);
      if (safe || request.trust) {
        selection.entries_.push_back(&saved);
      } else {
        selection.left_out_.push_back(path);
      }
    }
    if (!request.path.empty() && selection.entries_.empty()) {
      return Error(ErrorCode::kNotFound, "the snapshot has no " + printable(request.path))
          .with_hint("\"cofferdam snapshot ls\" lists what it has.");
    }
    return selection;
  }

  const std::vector<const SavedEntry*>& entries() const { return entries_; }
  std::vector<std::string> left_out() const { return left_out_; }
  std::string relative(const Entry& entry) const {
    if (base_.empty()) return entry.path;
    return entry.path == base_ ? std::string() : entry.path.substr(base_.size() + 1);
  }
  // Whether what was asked for is one file or link, not a directory.
  bool single() const {
    return !base_.empty() && entries_.size() == 1 && entries_.front()->entry.kind != EntryKind::kDirectory;
  }

  const GitParts& git() const { return git_; }

 private:
  explicit Selection(GitParts git) : git_(std::move(git)) {}

  // Inside of what is restored, not of what was saved.
  bool link_stays_inside(const Entry& entry) const {
    if (entry.kind != EntryKind::kSymlink) return true;
    const std::string path = relative(entry);
    return workspace::link_is_confined(path.empty() ? system::base_name(entry.path) : path, entry.target);
  }

  GitParts git_;
  std::string base_;
  std::vector<const SavedEntry*> entries_;
  std::vector<std::string> left_out_;
};

// The place beside the target where everything is written first; removed unless published.
class Staging {
 public:
  static Result<Staging> create(const std::string& target) {
    const std::string parent(system::parent_path(target));
    ASSIGN_OR_RETURN(UniqueFd directory, system::open_directory(parent.empty() ? "/" : parent));
    std::string name(system::base_name(target));
    std::string staged = ".cofferdam-restore-" + crypto::random_hex(kSuffixBytes);
    if (::mkdirat(directory.get(), staged.c_str(), kPrivateDirectory) != 0) {
      return Error::from_errno(errno, "make a directory beside " + printable(target));
    }
    ASSIGN_OR_RETURN(UniqueFd root, system::open_beneath(directory.get(), staged, O_RDONLY | O_DIRECTORY));
    return Staging(std::move(directory), std::move(root), std::move(staged), std::move(name), target);
  }
  Staging(Staging&& other) noexcept
      : parent_(std::move(other.parent_)),
        root_(std::move(other.root_)),
        staged_(std::exchange(other.staged_, {})),
        name_(std::move(other.name_)),
        target_(std::move(other.target_)) {}
  Staging& operator=(Staging&&) = delete;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (!staged_.empty()) (void)system::remove_tree_at(parent_.get(), staged_);
  }

  int root() const { return root_.get(); }

  // `inner`: the one name in the staging directory that becomes the target; empty: the directory itself.
  Status publish(const std::string& inner) {
    // Content first, name afterwards, also after a crash of the machine.
    if (::syncfs(root_.get()) != 0) return Error::from_errno(errno, "synchronise " + printable(target_));
    RETURN_IF_ERROR(remove_empty_target());
    const int from = inner.empty() ? parent_.get() : root_.get();
    const std::string& source = inner.empty() ? staged_ : inner;
    if (::renameat2(from, source.c_str(), parent_.get(), name_.c_str(), RENAME_NOREPLACE) != 0) {
      return Error::from_errno(errno, "put the restored tree at " + printable(target_));
    }
    if (inner.empty()) staged_.clear();
    return system::synchronise(parent_.get(), "the directory of " + target_);
  }

 private:
  Staging(UniqueFd parent, UniqueFd root, std::string staged, std::string name, std::string target)
      : parent_(std::move(parent)),
        root_(std::move(root)),
        staged_(std::move(staged)),
        name_(std::move(name)),
        target_(std::move(target)) {}

  Status remove_empty_target() const {
    if (::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    return Error::from_errno(errno, "replace the empty directory " + printable(target_));
  }

  UniqueFd parent_;
  UniqueFd root_;
  std::string staged_;  // name beside the target; empty once published or moved from
  std::string name_;
  std::string target_;
};

Status require_free_target(const std::string& target) {
  const UniqueFd directory(::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    if (errno == ENOENT) return {};
    return Error(ErrorCode::kFailedPrecondition, printable(target) + " exists and is no empty directory")
        .with_hint("Name a new place: a restore never replaces anything.");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(directory.get()));
  if (names.empty()) return {};
  return Error(ErrorCode::kFailedPrecondition, printable(target) + " is not empty")
      .with_hint("Name a new place: a restore never replaces anything.");
}

class Restorer {
 public:
  Restorer(const SnapshotStore& store, const KeyRing& keys, const RestoreRequest& request, const Selection& selection,
           int root)
      : store_(store), keys_(keys), request_(request), selection_(selection), root_(root) {}

  Result<RestoreReport> run() {
    RETURN_IF_ERROR(make_directories());
    step("files");
    RETURN_IF_ERROR(write_files());
    step("finish");
    RETURN_IF_ERROR(finish_entries());
    const std::vector<std::string> left_out = selection_.left_out();
    report_.left_out.insert(report_.left_out.end(), left_out.begin(), left_out.end());
    return std::move(report_);
  }

 private:
  void step(std::string_view name) const {
    if (request_.on_step) request_.on_step(name);
  }

  // Where an entry lies while it is staged; a single file has the staging directory to itself.
  std::string staged_path(const Entry& entry) const {
    return selection_.single() ? std::string(system::base_name(entry.path)) : selection_.relative(entry);
  }

  // Private until everything is in them: their own modes may forbid writing.
  Status make_directories() {
    for (const SavedEntry* saved : selection_.entries()) {
      if (saved->entry.kind != EntryKind::kDirectory) continue;
      ++report_.directories;
      const std::string path = staged_path(saved->entry);
      if (path.empty()) continue;
      if (::mkdirat(root_, path.c_str(), kPrivateDirectory) != 0) return failed("make the directory", saved->entry);
    }
    return {};
  }

  Status write_files() {
    ASSIGN_OR_RETURN(const ChunkIndex stored, ChunkIndex::load(store_, keys_));
    ASSIGN_OR_RETURN(const Segments segments, plan_segments(stored));
    std::vector<const std::vector<Destination>*> work;
    work.reserve(segments.size());
    for (const auto& [place, destinations] : segments) work.push_back(&destinations);
    if (request_.progress) request_.progress->begin("Restoring", report_.bytes);
    const Status done = system::for_each_parallel(work.size(), request_.threads,
                                                  [&](std::size_t i) { return write_segment(*work[i]); });
    if (request_.progress) request_.progress->end(static_cast<bool>(done));
    return done;
  }

  // Empty files are made here; every other file is made by whoever writes its first byte.
  Result<Segments> plan_segments(const ChunkIndex& stored) {
    Segments segments;
    std::optional<Error> missing;
    for (const SavedEntry* saved : selection_.entries()) {
      if (saved->entry.kind != EntryKind::kFile) continue;
      ++report_.files;
      report_.bytes += saved->entry.size;
      if (saved->entry.size == 0) RETURN_IF_ERROR(write_piece(saved->entry, 0, {}));
      for_each_chunk(*saved, [&](const Digest& digest, std::uint64_t offset, std::uint32_t size) {
        const ChunkLocation* place = stored.find(chunk_name(keys_, digest));
        if (place == nullptr || place->size != size) {
          missing = Error(ErrorCode::kDataLoss, "a chunk of " + printable(saved->entry.path) + " is not in the store");
          return;
        }
        segments[{place->pack->id, place->segment.offset}].push_back(
            {.saved = saved, .digest = &digest, .offset = offset, .place = *place});
      });
    }
    if (missing) return std::move(*missing);
    return segments;
  }

  Status write_segment(const std::vector<Destination>& destinations) {
    const ChunkLocation& first = destinations.front().place;
    auto plain = read_segment(store_.objects(), keys_, *first.pack, first.segment);
    if (!plain) return std::move(plain.error()).with_context(printable(destinations.front().saved->entry.path));
    std::uint64_t written = 0;
    for (const Destination& destination : destinations) {
      auto chunk = chunk_in(*plain, destination.place, *destination.digest);
      if (!chunk) return std::move(chunk.error()).with_context(printable(destination.saved->entry.path));
      RETURN_IF_ERROR(write_piece(destination.saved->entry, destination.offset, *chunk));
      written += chunk->size();
    }
    if (request_.progress) {
      const std::lock_guard lock(progress_mutex_);
      request_.progress->add(written);
    }
    return {};
  }

  Status write_piece(const Entry& entry, std::uint64_t offset, std::string_view bytes) const {
    const UniqueFd file(
        ::openat(root_, staged_path(entry).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
    if (!file) return failed("make", entry);
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed("write", entry);
      bytes.remove_prefix(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
    // A file of one chunk is done; the others get mode and time at the end.
    return entry.size <= kWholeFileLimit ? finish_file(file.get(), entry) : Status();
  }

  static Status finish_file(int file, const Entry& entry) {
    if (::fchmod(file, entry.mode) != 0) return failed("set the mode of", entry);
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, workspace::time_of(entry.mtime_ns)};
    if (::futimens(file, times) != 0) return failed("set the time of", entry);
    return {};
  }

  // Long files, links, and directories last and deepest first: their modes may close them, and what is made in them
  // changes their times.
  Status finish_entries() {
    for (const SavedEntry* saved : selection_.entries()) {
      if (is_filtered(saved->entry)) RETURN_IF_ERROR(filter_settings(saved->entry));
      if (saved->entry.kind == EntryKind::kSymlink) RETURN_IF_ERROR(make_link(saved->entry));
      if (saved->entry.kind == EntryKind::kFile && saved->entry.size > kWholeFileLimit) {
        RETURN_IF_ERROR(finish(saved->entry, O_WRONLY));
      }
    }
    for (auto it = selection_.entries().rbegin(); it != selection_.entries().rend(); ++it) {
      if ((*it)->entry.kind == EntryKind::kDirectory) RETURN_IF_ERROR(finish((*it)->entry, O_RDONLY | O_DIRECTORY));
    }
    return {};
  }

  bool is_filtered(const Entry& entry) const {
    return !request_.trust && entry.kind == EntryKind::kFile && selection_.git().is_settings(entry.path);
  }

  // Settings that name a program, or a place elsewhere, do not come back; neither does text that is no configuration.
  Status filter_settings(const Entry& entry) {
    const std::string path = staged_path(entry);
    std::string text;
    {
      ASSIGN_OR_RETURN(const UniqueFd file, system::open_beneath(root_, path, O_RDONLY));
      ASSIGN_OR_RETURN(text, system::read_up_to(file.get(), kLargestSettings + 1));
    }
    const Result<FilteredSettings> filtered = text.size() > kLargestSettings
                                                  ? Error(ErrorCode::kResourceExhausted, "it is too long")
                                                  : filtered_settings(text);
    if (filtered && filtered->left_out.empty()) return {};
    if (!filtered) report_.left_out.push_back(entry.path + ": " + filtered.error().message());
    for (const std::string& setting : filtered ? filtered->left_out : std::vector<std::string>()) {
      report_.left_out.push_back(entry.path + ": " + setting);
    }
    ASSIGN_OR_RETURN(const UniqueFd file, system::open_beneath(root_, path, O_WRONLY | O_TRUNC));
    RETURN_IF_ERROR(system::write_all(file.get(), filtered ? filtered->text : "", path));
    return finish_file(file.get(), entry);
  }

  Status finish(const Entry& entry, int flags) const {
    ASSIGN_OR_RETURN(const UniqueFd file, system::open_beneath(root_, staged_path(entry), flags));
    return finish_file(file.get(), entry);
  }

  Status make_link(const Entry& entry) {
    const std::string path = staged_path(entry);
    if (::symlinkat(entry.target.c_str(), root_, path.c_str()) != 0) return failed("make the link", entry);
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, workspace::time_of(entry.mtime_ns)};
    if (::utimensat(root_, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) return failed("set the time of", entry);
    ++report_.links;
    return {};
  }

  static Error failed(std::string_view what, const Entry& entry) {
    return Error::from_errno(errno, std::string(what) + " " + printable(entry.path));
  }

  const SnapshotStore& store_;
  const KeyRing& keys_;
  const RestoreRequest& request_;
  const Selection& selection_;
  const int root_;
  std::mutex progress_mutex_;
  RestoreReport report_;
};

}  // namespace

namespace {

Error with_way_out(Error error) {
  if (error.code() != ErrorCode::kDataLoss || !error.hint().empty()) return error;
  return std::move(error).with_hint(
      "\"cofferdam snapshot verify\" names everything that is damaged; what is whole can be restored with --path.");
}

}  // namespace

Result<RestoreReport> restore(const SnapshotStore& store, const store::SnapshotRecord& record,
                              const RestoreRequest& request) {
  RETURN_IF_ERROR(require_free_target(request.target));
  ASSIGN_OR_RETURN(const KeyRing keys, store.keys_of(record.company));
  ASSIGN_OR_RETURN(const Manifest manifest, store.manifest_of(record, keys));
  ASSIGN_OR_RETURN(const Selection selection, Selection::make(manifest, request));
  if (request.on_step) request.on_step("stage");
  ASSIGN_OR_RETURN(Staging staging, Staging::create(request.target));
  auto restored = Restorer(store, keys, request, selection, staging.root()).run();
  if (!restored) return with_way_out(std::move(restored.error()));
  RestoreReport report = std::move(*restored);
  if (request.on_step) request.on_step("publish");
  const std::string single =
      selection.single() ? std::string(system::base_name(selection.entries().front()->entry.path)) : std::string();
  if (single.empty() && request.path.empty()) {
    if (::fchmod(staging.root(), manifest.root_mode) != 0)
      return Error::from_errno(errno, "set the mode of the target");
  }
  RETURN_IF_ERROR(staging.publish(single));
  return report;
}

}  // namespace cofferdam::snapshot
