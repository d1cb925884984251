#include "recovery/plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/ranges.h"
#include "base/strings.h"
#include "recovery/failure.h"
#include "recovery/listing.h"
#include "system/tree.h"
#include "workspace/link_rule.h"

namespace cofferdam::recovery {
namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::OmissionReason;

constexpr std::string_view kGit = ".git";
constexpr std::string_view kNodeDependencies = "node_modules";
constexpr std::string_view kPythonEnvironmentMark = "pyvenv.cfg";

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// `path` cut at its first name `.git`.
struct GitPlace {
  std::string repository;  // working tree
  std::string inner;       // below `.git`; "" is the directory itself
};

std::optional<GitPlace> git_place(const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (std::string_view(path).substr(begin, end - begin) == kGit) {
      return GitPlace{.repository = path.substr(0, begin == 0 ? 0 : begin - 1),
                      .inner = end == path.size() ? "" : path.substr(end + 1)};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

bool tracks(const std::vector<git::IndexName>& tracked, const std::string& path) {
  const std::string inside = path + "/";
  return std::ranges::any_of(
      tracked, [&](const git::IndexName& name) { return name.path == path || name.path.starts_with(inside); });
}

class Chooser {
 public:
  Chooser(const std::vector<SourceEntry>& listing, const std::vector<git::IndexName>& tracked,
          const workspace::PathSet& exclude, bool with_dependencies)
      : listing_(listing), tracked_(tracked), with_dependencies_(with_dependencies) {
    plan_.exclude = exclude;
  }

  CapturePlan choose() {
    for (const SourceEntry& entry : listing_) {
      if (entry.path.empty() || plan_.exclude.covers(entry.path)) continue;
      const auto reason = reason_to_omit(entry);
      if (!reason) {
        take(entry);
        continue;
      }
      plan_.omissions.push_back({entry.path, *reason});
      // A socket is left out by whoever streams; to name each could take more words than a command may have.
      if (*reason != OmissionReason::kSocket) plan_.exclude.add(entry.path);
    }
    return std::move(plan_);
  }

 private:
  std::optional<OmissionReason> reason_to_omit(const SourceEntry& entry) const {
    switch (entry.kind) {
      case SourceKind::kSocket:
        return OmissionReason::kSocket;
      case SourceKind::kFifo:
        return OmissionReason::kFifo;
      case SourceKind::kDevice:
      case SourceKind::kUnknown:
        return OmissionReason::kDevice;
      case SourceKind::kFile:
      case SourceKind::kSymlink:
        return std::nullopt;
      case SourceKind::kDirectory:
        break;
    }
    if (entry.device != listing_.front().device) return OmissionReason::kOtherFileSystem;
    return is_dependencies(entry) ? std::optional(OmissionReason::kDependencies) : std::nullopt;
  }

  // `.git` is asked first: a file pyvenv.cfg in it must not make the history a Python environment.
  bool is_dependencies(const SourceEntry& entry) const {
    if (with_dependencies_ || git_place(entry.path)) return false;
    const SourceEntry* mark = find_source_entry(listing_, below(entry.path, kPythonEnvironmentMark));
    const bool python = mark != nullptr && mark->kind == SourceKind::kFile;
    if (!python && system::base_name(entry.path) != kNodeDependencies) return false;
    return !tracks(tracked_, entry.path);
  }

  void take(const SourceEntry& entry) {
    Entry taken{.path = entry.path, .kind = EntryKind::kFile, .mode = entry.mode & workspace::kPermissionBits};
    if (entry.kind == SourceKind::kDirectory) taken.kind = EntryKind::kDirectory;
    if (entry.kind == SourceKind::kFile) taken.size = entry.size;
    if (entry.kind == SourceKind::kSymlink) {
      taken.kind = EntryKind::kSymlink;
      taken.mode = workspace::kPermissionBits;
      taken.target = entry.target;
    } else if (entry.mode != taken.mode) {
      plan_.special_modes.push_back(entry.path);
    }
    if (system::base_name(entry.path) == kGit && !git_place(std::string(system::parent_path(entry.path)))) {
      plan_.repositories.emplace_back(system::parent_path(entry.path));
    }
    plan_.bytes += taken.size;
    plan_.entries.push_back(std::move(taken));
  }

  const std::vector<SourceEntry>& listing_;
  const std::vector<git::IndexName>& tracked_;
  const bool with_dependencies_;
  CapturePlan plan_;
};

Error beyond(const std::string& what, std::uint64_t bound) {
  return failure(Failure::kBudget, what + " more than " + std::to_string(bound));
}

Status check_budgets(const CapturePlan& plan, const CaptureLimits& limits) {
  if (plan.entries.size() > limits.entries) return beyond("the workspace has entries:", limits.entries);
  if (plan.bytes > limits.bytes) return beyond("the workspace has bytes:", limits.bytes);
  if (plan.repositories.size() > limits.repositories) return beyond("Git repositories:", limits.repositories);
  if (plan.exclude.paths().size() > limits.exclusions) return beyond("paths to leave out:", limits.exclusions);
  return {};
}

// Names that Git gives a meaning to, below `.git`. On a file system that ignores case each has aliases.
constexpr std::array<std::string_view, 20> kAdministrative = {"HEAD",
                                                              "config",
                                                              "config.worktree",
                                                              "index",
                                                              "objects",
                                                              "objects/info",
                                                              "objects/info/alternates",
                                                              "objects/pack",
                                                              "refs",
                                                              "objects/info/http-alternates",
                                                              "info",
                                                              "packed-refs",
                                                              "info/attributes",
                                                              "info/exclude",
                                                              "hooks",
                                                              "logs",
                                                              "modules",
                                                              "worktrees",
                                                              "commondir",
                                                              "shallow"};

// What makes a repository lean on another place.
constexpr std::array<std::string_view, 5> kPointers = {"objects/info/alternates", "objects/info/http-alternates",
                                                       "commondir", "gitdir", "config.worktree"};

// Of these, what makes its history lie elsewhere.
constexpr std::array<std::string_view, 3> kBorrowing = {"objects/info/alternates", "commondir", "gitdir"};

bool is_alias(const std::string& inner) {
  return std::ranges::any_of(kAdministrative,
                             [&](std::string_view name) { return inner != name && equals_ignoring_case(inner, name); });
}

Error layout_refused(const Entry& entry, const std::string& why) {
  return failure(Failure::kGitLayout, printable(entry.path) + ": " + why);
}

Status check_administrative(const Entry& entry, const std::string& inner) {
  if (entry.kind == EntryKind::kSymlink) return layout_refused(entry, "a symbolic link among Git's own files");
  if (inner.empty() && entry.kind == EntryKind::kFile) {
    return layout_refused(entry, "the workspace is a linked worktree or a submodule, whose history lies elsewhere");
  }
  if (is_alias(inner)) return layout_refused(entry, "an alias of a name that Git gives a meaning to");
  if (contains(kPointers, inner)) return layout_refused(entry, "the repository leans on another place");
  if (inner.starts_with("modules/")) return layout_refused(entry, "the repository has an initialised submodule");
  if (inner.starts_with("worktrees/")) return layout_refused(entry, "the repository has linked worktrees");
  return {};
}

struct RepositorySize {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

Status check_repositories(const CapturePlan& plan, const CaptureLimits& limits) {
  std::map<std::string, RepositorySize> sizes;
  for (const Entry& entry : plan.entries) {
    const std::string_view name = system::base_name(entry.path);
    if (name != kGit && equals_ignoring_case(name, kGit)) return layout_refused(entry, "an alias of .git");
    const auto place = git_place(entry.path);
    if (!place) continue;
    RETURN_IF_ERROR(check_administrative(entry, place->inner));
    RepositorySize& size = sizes[place->repository];
    if (++size.entries > limits.repository_entries) {
      return beyond("files of Git's own in one repository:", limits.repository_entries);
    }
    size.bytes += entry.size;
    if (size.bytes > limits.repository_bytes) {
      return beyond("bytes of Git's own in one repository:", limits.repository_bytes);
    }
  }
  return {};
}

// A submodule of the older kind has its Git directory in place.
Status check_submodules(const CapturePlan& plan, const std::vector<git::IndexName>& tracked) {
  for (const git::IndexName& name : tracked) {
    if (name.mode != git::kGitlinkBits || !contains(plan.repositories, name.path)) continue;
    return failure(Failure::kGitLayout, printable(name.path) + ": an initialised submodule");
  }
  return {};
}

Status check_kinds(const CapturePlan& plan) {
  for (const workspace::Omission& omission : plan.omissions) {
    if (omission.reason != OmissionReason::kFifo && omission.reason != OmissionReason::kDevice) continue;
    return failure(Failure::kSpecialFile, printable(omission.path) + " is a FIFO or a device");
  }
  if (!plan.special_modes.empty()) {
    return failure(Failure::kSpecialMode,
                   printable(plan.special_modes.front()) + " has a set-user-id, set-group-id or sticky bit");
  }
  for (const Entry& entry : plan.entries) {
    if (entry.kind != EntryKind::kSymlink || workspace::link_stays_inside(entry.path, entry.target)) continue;
    return failure(Failure::kLink, printable(entry.path) + " leads out of the workspace");
  }
  return {};
}

}  // namespace

CapturePlan choose_entries(const std::vector<SourceEntry>& listing, const std::vector<git::IndexName>& tracked,
                           const workspace::PathSet& exclude, bool with_dependencies) {
  return Chooser(listing, tracked, exclude, with_dependencies).choose();
}

Status check_plan(const CapturePlan& plan, const std::vector<git::IndexName>& tracked, const CaptureLimits& limits) {
  RETURN_IF_ERROR(check_budgets(plan, limits));
  RETURN_IF_ERROR(check_repositories(plan, limits));
  RETURN_IF_ERROR(check_submodules(plan, tracked));
  return check_kinds(plan);
}

Result<bool> history_is_inside(const std::vector<SourceEntry>& listing) {
  const SourceEntry* const git = find_source_entry(listing, kGit);
  if (git == nullptr) return true;
  const bool borrows = std::ranges::any_of(kBorrowing, [&](std::string_view pointer) {
    return find_source_entry(listing, below(std::string(kGit), pointer)) != nullptr;
  });
  if (git->kind == SourceKind::kDirectory && !borrows) return true;
  for (const SourceEntry& entry : listing) {
    const bool pointer = system::base_name(entry.path) == kGit && entry.kind != SourceKind::kDirectory;
    if (!pointer || entry.path == kGit) continue;
    return failure(Failure::kGitLayout,
                   printable(entry.path) + ": a submodule of a workspace whose history lies elsewhere");
  }
  return false;
}

}  // namespace cofferdam::recovery
