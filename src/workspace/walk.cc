#include "workspace/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace cofferdam::workspace {
namespace {

constexpr std::uint32_t kSpecialBits = S_ISUID | S_ISGID | S_ISVTX;
constexpr std::string_view kGitDirectory = ".git";
constexpr std::string_view kNodeDependencies = "node_modules";
constexpr const char* kPythonEnvironmentMark = "pyvenv.cfg";

std::optional<OmissionReason> special_file(std::uint32_t mode) {
  if (S_ISSOCK(mode)) return OmissionReason::kSocket;
  if (S_ISFIFO(mode)) return OmissionReason::kFifo;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return OmissionReason::kDevice;
  return std::nullopt;
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

// A directory that is still to be listed.
struct Pending {
  std::string path;
  std::uint64_t depth = 0;
  bool inside_git = false;  // in a repository's administrative files, which never count as dependencies
};

class Walker {
 public:
  Walker(int root, const WalkOptions& options) : root_(root), options_(options) {}

  Result<Walk> walk() {
    ASSIGN_OR_RETURN(const system::FileIdentity root, system::identity_of(root_));
    device_ = root.device;
    pending_.push_back({});
    while (!pending_.empty()) {
      const Pending directory = std::move(pending_.back());
      pending_.pop_back();
      RETURN_IF_ERROR(list(directory));
    }
    std::ranges::sort(walk_.seen, {}, [](const Seen& seen) -> const std::string& { return seen.entry.path; });
    std::ranges::sort(walk_.omissions, {}, &Omission::path);
    std::ranges::sort(walk_.stripped_modes);
    return std::move(walk_);
  }

 private:
  Status list(const Pending& directory) {
    auto opened = system::open_beneath(root_, directory.path, O_RDONLY | O_DIRECTORY);
    if (!opened) return vanished(opened.error()) && !directory.path.empty() ? Status() : Status(opened.error());
    auto names = system::names_in(opened->get());
    if (!names) return std::move(names.error()).with_context(printable(directory.path));
    for (const std::string& name : *names) RETURN_IF_ERROR(look_at(directory, opened->get(), name));
    return {};
  }

  static bool vanished(const Error& error) { return error.code() == ErrorCode::kNotFound; }

  Status look_at(const Pending& parent, int directory, const std::string& name) {
    std::string path = joined(parent.path, name);
    if (options_.exclude.covers(path)) return omit(std::move(path), OmissionReason::kExcluded);
    struct stat status{};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return Error::from_errno(errno, "look at " + printable(path));
    }
    if (const auto reason = special_file(status.st_mode)) return omit(std::move(path), *reason);
    if (S_ISDIR(status.st_mode)) return enter(parent, directory, std::move(path), name, status);
    if (S_ISLNK(status.st_mode)) return add_link(directory, std::move(path), name, status);
    return add(make_entry(std::move(path), EntryKind::kFile, status), status);
  }

  Status enter(const Pending& parent, int directory, std::string path, const std::string& name,
               const struct stat& status) {
    if (status.st_dev != device_) return omit(std::move(path), OmissionReason::kOtherFileSystem);
    const bool inside_git = parent.inside_git || name == kGitDirectory;
    if (options_.leave_out_dependencies && !inside_git) {
      ASSIGN_OR_RETURN(const bool dependencies, is_dependencies(directory, path, name));
      if (dependencies) return omit(std::move(path), OmissionReason::kDependencies);
    }
    if (parent.depth + 1 > options_.bounds.depth) return beyond("depth", options_.bounds.depth);
    pending_.push_back({.path = path, .depth = parent.depth + 1, .inside_git = inside_git});
    return add(make_entry(std::move(path), EntryKind::kDirectory, status), status);
  }

  Result<bool> is_dependencies(int directory, const std::string& path, const std::string& name) const {
    struct stat mark{};
    const std::string mark_name = name + "/" + kPythonEnvironmentMark;
    const bool python =
        ::fstatat(directory, mark_name.c_str(), &mark, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(mark.st_mode);
    if (!python && name != kNodeDependencies) return false;
    if (!options_.is_tracked) return true;
    ASSIGN_OR_RETURN(const bool tracked, options_.is_tracked(path));
    return !tracked;
  }

  Status add_link(int directory, std::string path, const std::string& name, const struct stat& status) {
    auto target = system::read_link_at(directory, name);
    if (!target && vanished(target.error())) return {};
    if (!target) return std::move(target.error()).with_context(printable(path));
    Entry entry = make_entry(std::move(path), EntryKind::kSymlink, status);
    entry.target = std::move(*target);
    return add(std::move(entry), status);
  }

  static Entry make_entry(std::string path, EntryKind kind, const struct stat& status) {
    const system::FileIdentity identity = system::identity_of(status);
    return {.path = std::move(path),
            .kind = kind,
            .mode = kind == EntryKind::kSymlink ? kPermissionBits : status.st_mode & kPermissionBits,
            .size = kind == EntryKind::kFile ? identity.size : 0,
            .mtime_ns = identity.mtime_ns,
            .digest = {},
            .target = {}};
  }

  Status add(Entry entry, const struct stat& status) {
    if (entry.kind != EntryKind::kSymlink && (status.st_mode & kSpecialBits) != 0) {
      if (options_.refuse_special_modes) {
        return Error(ErrorCode::kFailedPrecondition,
                     printable(entry.path) + " has a set-user-id, set-group-id or sticky bit, which is never carried")
            .with_hint("Remove it: chmod u-s,g-s,-t " + shell_quoted(printable(entry.path)));
      }
      walk_.stripped_modes.push_back(entry.path);
    }
    bytes_ += entry.size;
    if (bytes_ > options_.bounds.bytes) return beyond("bytes", options_.bounds.bytes);
    if (walk_.seen.size() >= options_.bounds.entries) return beyond("entries", options_.bounds.entries);
    walk_.seen.push_back({std::move(entry), system::identity_of(status)});
    return {};
  }

  Status omit(std::string path, OmissionReason reason) {
    walk_.omissions.push_back({std::move(path), reason});
    return {};
  }

  static Error beyond(std::string_view what, std::uint64_t bound) {
    return {ErrorCode::kResourceExhausted,
            "the tree goes beyond the bound of " + std::to_string(bound) + " " + std::string(what)};
  }

  const int root_;
  const WalkOptions& options_;
  std::uint64_t device_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<Pending> pending_;
  Walk walk_;
};

}  // namespace

Result<Walk> walk_tree(int root, const WalkOptions& options) {
  return Walker(root, options).walk();
}

}  // namespace cofferdam::workspace
