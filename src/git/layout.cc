#include "git/layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/ranges.h"
#include "base/strings.h"
#include "domain/path.h"
#include "git/files.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

using domain::joined;
using domain::parent_of;

constexpr std::size_t kPointerBytes = 8'192;
constexpr std::size_t kConfigBytes = std::size_t{1} << 20;
constexpr std::size_t kAlternatesBytes = std::size_t{1} << 16;
constexpr std::size_t kMostAlternates = 32;
constexpr int kAlternateDepth = 5;  // as Git's own bound
constexpr int kStoreDepth = 4;
constexpr std::size_t kStoreEntries = 20'000'000;

Error forged(const std::string& workspace, const std::string& why) {
  return Error(ErrorCode::kPermissionDenied, "The Git pointer " + printable(workspace) + "/.git is not trusted: " + why)
      .with_hint("Repair it on the host (`git worktree repair` or `git submodule update`), or remove it.");
}

// lstat by path. Only for the host's own tree and for the root of a sandbox's.
std::optional<mode_t> kind_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & S_IFMT;
}

// The first line after `prefix`, as an absolute path; relative ones start at `base`.
std::optional<std::string> pointer_target(const std::optional<std::string>& text, std::string_view prefix,
                                          const std::string& base) {
  if (!text || !text->starts_with(prefix)) return std::nullopt;
  std::string_view target = std::string_view(*text).substr(prefix.size());
  target = target.substr(0, target.find('\n'));
  if (!prefix.empty() && target.starts_with(' ')) target.remove_prefix(1);
  if (target.ends_with('\r')) target.remove_suffix(1);
  if (target.empty()) return std::nullopt;
  return domain::normalized_absolute(target.starts_with('/') ? std::string(target) : joined(base, target));
}

Result<std::optional<std::string>> read_pointer(int directory, const std::string& name, std::string_view prefix,
                                                const std::string& base) {
  ASSIGN_OR_RETURN(const auto text, read_optional(directory, name, kPointerBytes));
  return pointer_target(text, prefix, base);
}

// Whether a directory looks like one of Git's, by the rule that git itself has.
bool is_git_directory(const std::string& path) {
  return kind_of(path + "/HEAD") == S_IFREG && kind_of(path + "/objects") == S_IFDIR &&
         kind_of(path + "/refs") == S_IFDIR;
}

// Same directory, whatever links lead there.
bool is_same_directory(const std::string& left, const std::string& right) {
  struct stat one{};
  struct stat other{};
  return ::stat(left.c_str(), &one) == 0 && ::stat(right.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

Result<std::vector<ConfigSetting>> read_config(int common_dir) {
  ASSIGN_OR_RETURN(const auto text, read_optional(common_dir, "config", kConfigBytes));
  return parse_config(text.value_or(""));
}

Status check_format(const std::vector<ConfigSetting>& config) {
  static constexpr std::array<std::string_view, 5> kKnown = {"noop", "objectformat", "partialclone", "preciousobjects",
                                                             "worktreeconfig"};
  const std::string* const version = config_value(config, "core", "repositoryformatversion");
  if (version == nullptr || *version == "0") return {};
  if (*version != "1")
    return Error(ErrorCode::kUnsupported, "The repository has the unknown format " + printable(*version));
  for (const ConfigSetting& setting : config) {
    if (setting.section != "extensions" || setting.has_subsection || contains(kKnown, setting.key)) continue;
    return Error(ErrorCode::kUnsupported,
                 "The repository uses the extension " + printable(setting.key) + ", which is not supported");
  }
  return {};
}

Result<ObjectFormat> format_of(const std::vector<ConfigSetting>& config) {
  const std::string* const name = config_value(config, "extensions", "objectformat");
  if (name == nullptr || *name == "sha1") return ObjectFormat::kSha1;
  if (*name == "sha256") return ObjectFormat::kSha256;
  return Error(ErrorCode::kUnsupported, "The repository has the unknown object format " + printable(*name));
}

// Follows objects/info/alternates and those of the directories named there.
class AlternateReader {
 public:
  AlternateReader(const Layout& layout, const LayoutOptions& options) : layout_(layout), options_(options) {}

  Result<std::vector<std::string>> read() {
    RETURN_IF_ERROR(follow(layout_.common_dir + "/objects", 0));
    return std::move(found_);
  }

 private:
  Status follow(const std::string& objects, int depth) {
    if (depth > kAlternateDepth) return {};
    auto directory = system::open_directory(objects);
    if (!directory && depth > 0) return {};  // git only warns of one that is gone
    if (!directory) return std::move(directory.error());
    ASSIGN_OR_RETURN(const auto text, read_optional(directory->get(), "info/alternates", kAlternatesBytes));
    if (!text) return {};
    for (const std::string_view line : split(*text, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      const auto path = domain::normalized_absolute(line.starts_with('/') ? std::string(line) : joined(objects, line));
      if (!path || !is_allowed(*path)) {
        return Error(ErrorCode::kPermissionDenied,
                     "The repository takes objects from " + printable(line) + ", which lies outside of the workspace")
            .with_hint("`git repack -a -d` and removing .git/objects/info/alternates make it stand alone.");
      }
      if (contains(found_, *path)) continue;
      if (found_.size() >= kMostAlternates) {
        return Error(ErrorCode::kResourceExhausted, "The repository takes objects from too many places");
      }
      found_.push_back(*path);
      RETURN_IF_ERROR(follow(*path, depth + 1));
    }
    return {};
  }

  bool is_allowed(const std::string& path) const {
    return options_.origin == Origin::kHost || contains(options_.allowed_alternates, path);
  }

  const Layout& layout_;
  const LayoutOptions& options_;
  std::vector<std::string> found_;
};

std::vector<std::string> operations_in_progress(int git_dir) {
  struct Trace {
    const char* file;
    const char* name;
  };
  static constexpr std::array<Trace, 5> kTraces = {{{"MERGE_HEAD", "merge"},
                                                    {"rebase-merge", "rebase"},
                                                    {"rebase-apply", "rebase"},
                                                    {"CHERRY_PICK_HEAD", "cherry-pick"},
                                                    {"REVERT_HEAD", "revert"}}};
  std::vector<std::string> out;
  for (const Trace& trace : kTraces) {
    if (system::status_beneath(git_dir, trace.file)) out.emplace_back(trace.name);
  }
  return out;
}

// Everything but the kind and the places, which are known.
Result<Layout> filled(Layout layout, const LayoutOptions& options) {
  ASSIGN_OR_RETURN(const UniqueFd git_dir, system::open_directory(layout.git_dir));
  ASSIGN_OR_RETURN(const UniqueFd common_dir, system::open_directory(layout.common_dir));
  ASSIGN_OR_RETURN(layout.config, read_config(common_dir.get()));
  RETURN_IF_ERROR(check_format(layout.config));
  ASSIGN_OR_RETURN(layout.format, format_of(layout.config));
  ASSIGN_OR_RETURN(layout.refs, read_refs(common_dir.get(), layout.format));
  ASSIGN_OR_RETURN(layout.head, read_head(git_dir.get(), layout.refs, layout.format));
  layout.shallow = system::status_beneath(common_dir.get(), "shallow").has_value();
  ASSIGN_OR_RETURN(layout.alternates, AlternateReader(layout, options).read());
  layout.in_progress = operations_in_progress(git_dir.get());
  return layout;
}

// A `.git` file is followed only to a directory that points back: whoever can write the workspace can write the file.
Result<Layout> behind_pointer(Layout layout, const LayoutOptions& options) {
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(layout.workspace));
  ASSIGN_OR_RETURN(const auto target, read_pointer(root.get(), ".git", "gitdir:", layout.workspace));
  if (!target) return forged(layout.workspace, "it does not name a directory");
  auto git_dir = system::open_directory(*target);
  if (!git_dir) return forged(layout.workspace, printable(*target) + " cannot be opened");
  layout.git_dir = *target;
  layout.common_dir = *target;
  ASSIGN_OR_RETURN(const auto common, read_pointer(git_dir->get(), "commondir", "", *target));
  if (common) {
    ASSIGN_OR_RETURN(const auto back, read_pointer(git_dir->get(), "gitdir", "", *target));
    if (!back || !is_same_directory(parent_of(*back), layout.workspace)) {
      return forged(layout.workspace, printable(*target) + " belongs to another worktree");
    }
    layout.kind = Layout::Kind::kLinkedWorktree;
    layout.common_dir = *common;
  } else {
    ASSIGN_OR_RETURN(const auto config, read_config(git_dir->get()));
    const std::string* const worktree = config_value(config, "core", "worktree");
    const auto back = worktree == nullptr ? std::nullopt : pointer_target(*worktree, "", *target);
    if (!back || !is_same_directory(*back, layout.workspace)) {
      return forged(layout.workspace, printable(*target) + " belongs to another checkout");
    }
    layout.kind = Layout::Kind::kSubmodule;
  }
  if (!is_git_directory(layout.common_dir)) {
    return forged(layout.workspace, printable(layout.common_dir) + " is no Git directory");
  }
  return filled(std::move(layout), options);
}

Result<Layout> without_dot_git(Layout layout, const LayoutOptions& options) {
  if (is_git_directory(layout.workspace)) {
    layout.kind = Layout::Kind::kBare;
    layout.git_dir = layout.common_dir = layout.workspace;
    return filled(std::move(layout), options);
  }
  if (options.origin == Origin::kSandbox) return layout;
  for (std::string above = layout.workspace; above != "/";) {
    above = parent_of(above);
    const auto kind = kind_of(joined(above, ".git"));
    if (!kind || (kind == S_IFDIR && !is_git_directory(joined(above, ".git")))) continue;
    layout.kind = Layout::Kind::kSubfolder;
    layout.top_level = above;
    return layout;
  }
  return layout;
}

// Only directories and regular files, counted.
class StoreCheck {
 public:
  Status check(int directory, const std::string& path, int depth) {
    if (depth > kStoreDepth) return refuse(path, "its directories nest too deeply");
    ASSIGN_OR_RETURN(const std::vector<std::string> names, system::names_in(directory));
    for (const std::string& name : names) {
      if (++entries_ > kStoreEntries) return refuse(path, "it holds too many entries");
      const std::string child = path + "/" + name;
      struct stat status{};
      if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISREG(status.st_mode)) continue;
      if (!S_ISDIR(status.st_mode)) return refuse(child, "it is a symbolic link or a special file");
      ASSIGN_OR_RETURN(const UniqueFd below, system::open_beneath(directory, name, O_RDONLY | O_DIRECTORY));
      RETURN_IF_ERROR(check(below.get(), child, depth + 1));
    }
    return {};
  }

 private:
  static Error refuse(const std::string& path, const std::string& why) {
    return Error(ErrorCode::kPermissionDenied,
                 "The Git objects of the sandbox cannot be read: " + printable(path) + ": " + why);
  }
  std::size_t entries_ = 0;
};

}  // namespace

std::string_view to_string(Layout::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"no repository", "a folder inside a repository",
                                                             "a repository",  "a linked worktree",
                                                             "a submodule",   "a bare repository"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Layout> read_layout(const std::string& workspace, const LayoutOptions& options) {
  Layout layout{.workspace = workspace, .top_level = workspace};
  const std::string dot_git = joined(workspace, ".git");
  const auto kind = kind_of(dot_git);
  // git takes an empty directory of this name for nothing, and so does everything here.
  if (!kind || (kind == S_IFDIR && !is_git_directory(dot_git))) return without_dot_git(std::move(layout), options);
  if (kind == S_IFDIR) {
    layout.kind = Layout::Kind::kStandalone;
    layout.git_dir = layout.common_dir = dot_git;
    return filled(std::move(layout), options);
  }
  if (kind != S_IFREG) return forged(workspace, "it is a symbolic link or a special file");
  if (options.origin == Origin::kSandbox) return forged(workspace, "it points out of the sandbox");
  return behind_pointer(std::move(layout), options);
}

Status check_object_store(const Layout& layout) {
  ASSIGN_OR_RETURN(const UniqueFd common_dir, system::open_directory(layout.common_dir));
  ASSIGN_OR_RETURN(const UniqueFd objects, system::open_beneath(common_dir.get(), "objects", O_RDONLY | O_DIRECTORY));
  return StoreCheck().check(objects.get(), "objects", 0);
}

}  // namespace cofferdam::git
