#include "workspace/extract.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "base/unique_fd.h"
#include "crypto/sha256.h"
#include "system/tree.h"
#include "workspace/file_time.h"
#include "workspace/holes.h"

namespace cofferdam::workspace {
namespace {

constexpr std::uint32_t kPermissions = 0777;
constexpr std::uint32_t kImpliedMode = 0755;

EntryKind kind_of(MemberKind kind) {
  switch (kind) {
    case MemberKind::kDirectory:
      return EntryKind::kDirectory;
    case MemberKind::kSymlink:
      return EntryKind::kSymlink;
    case MemberKind::kFile:
    case MemberKind::kHardLink:
      return EntryKind::kFile;
  }
  return EntryKind::kFile;
}

Entry entry_of(const ArchiveMember& member) {
  return {.path = member.path,
          .kind = kind_of(member.kind),
          .mode = member.mode & kPermissions,
          .size = member.size,
          .mtime_ns = member.mtime_ns,
          .target = member.kind == MemberKind::kSymlink ? member.target : std::string()};
}

// Where members go: to a directory, or nowhere.
class Extraction {
 public:
  Extraction(ArchiveReader& reader, std::optional<int> root, const ExtractOptions& options)
      : reader_(reader), root_(root), options_(options) {}

  Result<Extracted> run() {
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<ArchiveMember> member, reader_.next());
      if (!member) break;
      RETURN_IF_ERROR(in_context(take(*member), printable(member->path)));
    }
    RETURN_IF_ERROR(close_directories());
    return finished();
  }

 private:
  Status take(const ArchiveMember& member) {
    RETURN_IF_ERROR(imply_directories(member.path));
    RETURN_IF_ERROR(reach(options_.faults, "member"));
    Entry entry = entry_of(member);
    if (member.had_special_mode) extracted_.inventory.stripped_modes.push_back(member.path);
    switch (member.kind) {
      case MemberKind::kDirectory:
        RETURN_IF_ERROR(make_directory(entry));
        break;
      case MemberKind::kFile:
        RETURN_IF_ERROR(make_file(entry));
        break;
      case MemberKind::kSymlink:
        RETURN_IF_ERROR(make_symlink(entry, member.confined));
        break;
      case MemberKind::kHardLink:
        RETURN_IF_ERROR(make_hard_link(entry, member.target));
        break;
    }
    remember(std::move(entry));
    return {};
  }

  // A directory that was implied and is named now takes what it is named with.
  void remember(Entry entry) {
    const auto [place, is_new] = places_.try_emplace(entry.path, extracted_.inventory.entries.size());
    if (is_new) {
      extracted_.inventory.entries.push_back(std::move(entry));
    } else {
      extracted_.inventory.entries[place->second] = std::move(entry);
    }
  }

  // Directories above a member that the archive did not name.
  Status imply_directories(const std::string& path) {
    const std::string above(system::parent_path(path));
    if (above.empty() || places_.contains(above)) return {};
    RETURN_IF_ERROR(imply_directories(above));
    Entry directory{.path = above, .kind = EntryKind::kDirectory, .mode = kImpliedMode};
    RETURN_IF_ERROR(make_directory(directory));
    remember(std::move(directory));
    return {};
  }

  // Members of one directory come one after the other: its descriptor is kept.
  Result<int> parent_of(const std::string& path) {
    const std::string above(system::parent_path(path));
    if (!parent_ || above != parent_path_) {
      ASSIGN_OR_RETURN(parent_, system::open_beneath(*root_, above, O_RDONLY | O_DIRECTORY));
      parent_path_ = above;
    }
    return parent_.get();
  }

  static std::string name_of(const std::string& path) { return std::string(system::base_name(path)); }

  Status make_directory(const Entry& entry) {
    if (!root_) return {};
    ASSIGN_OR_RETURN(const int parent, parent_of(entry.path));
    if (::mkdirat(parent, name_of(entry.path).c_str(), S_IRWXU) == 0) return {};
    if (errno == EEXIST && places_.contains(entry.path)) return {};
    return Error::from_errno(errno, "make the directory");
  }

  Status make_symlink(const Entry& entry, bool confined) {
    if (!confined) extracted_.recorded_links.push_back(entry.path);
    if (!root_ || !confined) return {};
    ASSIGN_OR_RETURN(const int parent, parent_of(entry.path));
    if (::symlinkat(entry.target.c_str(), parent, name_of(entry.path).c_str()) == 0) return {};
    return Error::from_errno(errno, "make the link");
  }

  Status make_hard_link(Entry& entry, const std::string& target) {
    const Entry& original = extracted_.inventory.entries[places_.at(target)];
    entry.mode = original.mode;
    entry.digest = original.digest;
    if (!root_) return {};
    ASSIGN_OR_RETURN(const system::Parent from, system::open_parent(*root_, target));
    ASSIGN_OR_RETURN(const int parent, parent_of(entry.path));
    if (::linkat(from.directory.get(), from.name.c_str(), parent, name_of(entry.path).c_str(), 0) == 0) return {};
    return Error::from_errno(errno, "make the hard link");
  }

  Status make_file(Entry& entry) {
    UniqueFd file;
    if (root_) {
      ASSIGN_OR_RETURN(const int parent, parent_of(entry.path));
      constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      file.reset(::openat(parent, name_of(entry.path).c_str(), kFlags, S_IRUSR | S_IWUSR));
      if (!file) return Error::from_errno(errno, "make the file");
    }
    RETURN_IF_ERROR(write_content(entry, file.get()));
    extracted_.bytes += entry.size;
    return root_ ? finish_file(entry, file.get()) : Status();
  }

  Status write_content(Entry& entry, int file) {
    while (true) {
      ASSIGN_OR_RETURN(const std::string_view piece, reader_.content());
      if (piece.empty()) break;
      hash_.update(piece);
      if (root_) RETURN_IF_ERROR(write_with_holes(file, piece));
    }
    entry.digest = hash_.finish();
    return {};
  }

  Status finish_file(const Entry& entry, int file) {
    RETURN_IF_ERROR(reach(options_.faults, "file"));
    RETURN_IF_ERROR(end_with_holes(file, entry.size));
    if (options_.keep_times) {
      const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time_of(entry.mtime_ns)};
      if (::futimens(file, times) != 0) return Error::from_errno(errno, "set the time of the file");
    }
    if (::fchmod(file, entry.mode) != 0) return Error::from_errno(errno, "set the mode of the file");
    return {};
  }

  // From the leaves up: a directory may forbid to be entered once it has its mode.
  Status close_directories() {
    if (!root_) return {};
    std::vector<const Entry*> directories;
    for (const Entry& entry : extracted_.inventory.entries) {
      if (entry.kind == EntryKind::kDirectory) directories.push_back(&entry);
    }
    std::ranges::sort(directories, std::greater<>(), &Entry::path);
    for (const Entry* directory : directories) {
      ASSIGN_OR_RETURN(const UniqueFd opened, system::open_beneath(*root_, directory->path, O_RDONLY | O_DIRECTORY));
      if (::fchmod(opened.get(), directory->mode) != 0) {
        return Error::from_errno(errno, "set the mode of " + printable(directory->path));
      }
    }
    return {};
  }

  Extracted finished() {
    std::ranges::sort(extracted_.inventory.entries, {}, &Entry::path);
    std::ranges::sort(extracted_.inventory.stripped_modes);
    std::ranges::sort(extracted_.recorded_links);
    return std::move(extracted_);
  }

  ArchiveReader& reader_;
  std::optional<int> root_;
  const ExtractOptions& options_;
  Extracted extracted_;
  std::unordered_map<std::string, std::size_t> places_;  // of entries, by their path
  crypto::Sha256 hash_;
  UniqueFd parent_;
  std::string parent_path_;
};

}  // namespace

Result<Extracted> extract_archive(const ByteSource& source, int root, const ExtractOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(root));
  if (!names.empty()) return Error(ErrorCode::kAlreadyExists, "the directory to unpack into is not empty");
  ArchiveReader reader(source, options.rules);
  return Extraction(reader, root, options).run();
}

Result<Extracted> inspect_archive(const ByteSource& source, const ArchiveRules& rules) {
  const ExtractOptions options{.rules = rules};
  ArchiveReader reader(source, options.rules);
  return Extraction(reader, std::nullopt, options).run();
}

}  // namespace cofferdam::workspace
