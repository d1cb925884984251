#include "workspace/merge_plan.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/ranges.h"
#include "base/strings.h"
#include "workspace/link_rule.h"
#include "workspace/patterns.h"

namespace cofferdam::workspace {
namespace {

constexpr std::size_t kLongestRunId = 64;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestExtension = 16;
constexpr std::uint32_t kOwnerMayChange = 0300;  // w and x: what making and removing names in a directory needs
constexpr std::uint32_t kOwnerAll = 0700;
constexpr std::uint32_t kPermissions = 0777;

// What is to become of one path: the host's state becomes `landing` (nothing: the path goes), or stays.
struct Choice {
  bool take = false;
  std::optional<Entry> landing;
  bool conflict = false;
  MergeReason reason = MergeReason::kNone;
};

// Everything known about one path.
struct Row {
  std::string_view path;
  const Entry* base = nullptr;
  const Entry* theirs = nullptr;
  const Entry* ours = nullptr;
  std::optional<std::size_t> parent;  // the nearest row above

  bool frozen = false;   // neither this path nor anything below changes
  bool noted = false;    // the user was told about this one or one above
  bool blocked = false;  // the host's file keeps the place of a directory that this would need

  Choice choice;

  bool host_below = false;     // something of the host's stays below
  bool sandbox_below = false;  // something of the sandbox's lands below
};

bool is_directory(const Entry* entry) {
  return entry != nullptr && entry->kind == EntryKind::kDirectory;
}
bool is_leaf(const Entry* entry) {
  return entry != nullptr && entry->kind != EntryKind::kDirectory;
}

bool same(const Entry* left, const Entry* right) {
  if (left == nullptr || right == nullptr) return left == right;
  return left->same_content(*right);
}

// Kind and bytes, whatever the mode.
bool same_bytes(const Entry& left, const Entry& right) {
  return left.kind == right.kind && left.size == right.size && left.digest == right.digest &&
         left.target == right.target;
}

std::optional<Entry> copy_of(const Entry* entry) {
  return entry == nullptr ? std::nullopt : std::optional(*entry);
}

Choice stay(MergeReason reason = MergeReason::kNone) {
  return {.reason = reason};
}

MergeReason reason_of_change(const Row& row) {
  if (row.theirs == nullptr) return MergeReason::kDeletedInSandbox;
  return row.base == nullptr ? MergeReason::kNewInSandbox : MergeReason::kChangedInSandbox;
}

Choice choose_in_conflict(const Row& row, Prefer prefer) {
  if (prefer == Prefer::kHost) return stay(MergeReason::kBothChanged);
  return {.take = true, .landing = *row.theirs, .conflict = true, .reason = MergeReason::kBothChanged};
}

// Bytes and mode are changed independently of each other: a host that made a file executable and a sandbox that edited
// it do not contradict each other.
Choice choose_by_field(const Row& row, Prefer prefer) {
  const Entry& theirs = *row.theirs;
  const Entry& ours = *row.ours;
  const Entry* base = row.base != nullptr && row.base->kind == theirs.kind ? row.base : nullptr;
  const bool bytes = !same_bytes(theirs, ours) && (base == nullptr || !same_bytes(theirs, *base));
  if (bytes && (base == nullptr || !same_bytes(ours, *base))) return choose_in_conflict(row, prefer);
  const bool mode = theirs.mode != ours.mode && (base == nullptr || theirs.mode != base->mode);
  const bool both_modes = mode && (base == nullptr || ours.mode != base->mode);
  const bool take_mode = mode && !(both_modes && prefer == Prefer::kHost);
  Entry landing = bytes ? theirs : ours;
  landing.mode = take_mode ? theirs.mode : ours.mode;
  if (landing.same_content(ours)) return stay(both_modes ? MergeReason::kBothChangedMode : MergeReason::kNone);
  const MergeReason reason = both_modes ? MergeReason::kBothChangedMode : MergeReason::kChangedInSandbox;
  return {.take = true, .landing = std::move(landing), .reason = reason};
}

// A directory by itself holds no work: one that the host removed comes back only when something new needs it.
Choice choose_where_host_deleted(const Row& row, Prefer prefer) {
  if (is_directory(row.theirs) && is_directory(row.base)) return stay();
  if (prefer == Prefer::kHost) return stay(MergeReason::kHostDeletedSandboxChanged);
  return {.take = true, .landing = *row.theirs, .reason = MergeReason::kHostDeletedSandboxChanged};
}

// The three-way rule for one path.
Choice choose(const Row& row, Prefer prefer) {
  if (row.frozen || same(row.theirs, row.base) || same(row.theirs, row.ours)) return stay();
  if (same(row.ours, row.base)) {
    return {.take = true, .landing = copy_of(row.theirs), .reason = reason_of_change(row)};
  }
  if (row.theirs == nullptr) return stay(MergeReason::kHostChangedSandboxDeleted);
  if (row.ours == nullptr) return choose_where_host_deleted(row, prefer);
  if (row.theirs->kind == row.ours->kind && row.theirs->kind != EntryKind::kSymlink) {
    return choose_by_field(row, prefer);
  }
  return choose_in_conflict(row, prefer);
}

// Rows of all three lists, sorted by path, each with the row above it.
std::vector<Row> join_by_path(const std::vector<Entry>& base, const std::vector<Entry>& theirs,
                              const std::vector<Entry>& ours) {
  std::vector<Row> rows;
  rows.reserve(std::max({base.size(), theirs.size(), ours.size()}));
  std::unordered_map<std::string_view, std::size_t> places;
  auto b = base.begin();
  auto t = theirs.begin();
  auto o = ours.begin();
  while (b != base.end() || t != theirs.end() || o != ours.end()) {
    std::optional<std::string_view> first;
    const auto consider = [&first](auto at, auto end) {
      if (at != end && (!first || at->path < *first)) first = at->path;
    };
    consider(b, base.end());
    consider(t, theirs.end());
    consider(o, ours.end());
    Row row{.path = *first};
    if (b != base.end() && b->path == *first) row.base = &*b++;
    if (t != theirs.end() && t->path == *first) row.theirs = &*t++;
    if (o != ours.end() && o->path == *first) row.ours = &*o++;
    for (std::string_view above = row.path; !row.parent && above.contains('/');) {
      above = above.substr(0, above.rfind('/'));
      if (const auto found = places.find(above); found != places.end()) row.parent = found->second;
    }
    if (is_directory(row.base) || is_directory(row.theirs) || is_directory(row.ours)) places[row.path] = rows.size();
    rows.push_back(row);
  }
  return rows;
}

class Planner {
 public:
  Planner(std::vector<Row> rows, const MergeOptions& options) : rows_(std::move(rows)), options_(options) {
    for (const Row& row : rows_) taken_names_.insert(std::string(row.path));
  }

  std::vector<MergeAction> plan(const std::vector<std::string>& special_there,
                                const std::vector<std::string>& special_here) {
    for (Row& row : rows_) freeze(row);
    for (Row& row : rows_) decide(row);
    mark_below();
    for (Row& row : rows_) settle(row);
    // What the host has as well was not made in the sandbox.
    for (const std::string& path : special_there) {
      if (!contains(special_here, path)) note_special_mode(path);
    }
    open_closed_directories();
    return in_order();
  }

  std::size_t left() const { return left_; }

 private:
  Row* parent_of(const Row& row) { return row.parent ? &rows_[*row.parent] : nullptr; }

  // Paths that this merge leaves alone whatever happened to them.
  void freeze(Row& row) {
    const Row* parent = parent_of(row);
    row.frozen = (parent != nullptr && parent->frozen) || options_.excluded.covers(row.path);
    if (row.frozen || same(row.theirs, row.base) || same(row.theirs, row.ours)) return;
    if (row.theirs == nullptr || row.theirs->kind != EntryKind::kSymlink) return;
    if (link_is_confined(row.path, row.theirs->target)) return;
    row.frozen = true;
    keep(row, MergeReason::kLinkNotConfined);
  }

  bool is_left_in_sandbox(const Row& row) const {
    if (!options_.leave_heavy_directories || !in_heavy_directory(row.path)) return false;
    return !options_.is_tracked || !options_.is_tracked(std::string(row.path));
  }

  void decide(Row& row) {
    Choice choice = choose(row, options_.prefer);
    const bool matters = choice.take || choice.reason != MergeReason::kNone;
    if (matters && is_left_in_sandbox(row)) return note_left(row);
    row.choice = std::move(choice);
  }

  // Only the topmost of them is named: there can be very many.
  void note_left(Row& row) {
    ++left_;
    const Row* parent = parent_of(row);
    row.noted = true;
    if (parent == nullptr || !parent->noted) keep(row, MergeReason::kHeavyDirectory);
  }

  void mark_below() {
    for (Row& row : rows_ | std::views::reverse) {
      Row* parent = parent_of(row);
      if (parent == nullptr) continue;
      if ((row.choice.take && row.choice.landing) || row.sandbox_below) parent->sandbox_below = true;
      if ((!row.choice.take && row.ours != nullptr) || row.host_below) parent->host_below = true;
    }
  }

  // Turns the choice into actions that leave a tree: a file cannot have the place of a directory that holds something.
  void settle(Row& row) {
    const Row* parent = parent_of(row);
    row.blocked = parent != nullptr && parent->blocked;
    if (row.blocked) {
      if (row.choice.take && row.choice.landing) keep(row, MergeReason::kHostInTheWay);
      return;
    }
    if (!row.choice.take) return settle_staying(row);
    if (!row.choice.landing) return settle_going(row);
    row.choice.landing->kind == EntryKind::kDirectory ? settle_directory(row) : settle_leaf(row);
  }

  void settle_staying(Row& row) {
    if (row.choice.reason != MergeReason::kNone) keep(row, row.choice.reason);
    if (row.sandbox_below && !is_directory(row.ours)) {
      make_directory(row, row.theirs != nullptr ? *row.theirs : *row.base, MergeReason::kNeededByContents);
    }
  }

  void settle_going(Row& row) {
    if (row.ours == nullptr) return;
    if (is_leaf(row.ours)) return add(MergeVerb::kDelete, row, row.choice.reason);
    if (row.host_below) return keep(row, MergeReason::kDirectoryNotEmpty);
    add(MergeVerb::kRemoveDirectory, row, row.choice.reason);
  }

  void settle_directory(Row& row) {
    if (is_directory(row.ours)) return set_mode(row);
    make_directory(row, *row.choice.landing, row.choice.reason);
  }

  void make_directory(Row& row, Entry directory, MergeReason reason) {
    if (is_leaf(row.ours)) {
      if (same(row.ours, row.base)) {
        add(MergeVerb::kDelete, row, reason);
      } else if (options_.prefer == Prefer::kHost) {
        row.blocked = true;
        if (row.choice.reason == MergeReason::kNone) keep(row, MergeReason::kHostInTheWay);
        return;
      } else {
        move_aside(row);
      }
    }
    row.choice.landing = std::move(directory);
    add(MergeVerb::kMakeDirectory, row, reason);
    // Made open, so that it can be filled.
    if ((row.choice.landing->mode & kOwnerAll) == kOwnerAll) return;
    Entry open = *row.choice.landing;
    open.mode |= kOwnerAll;
    actions_.push_back({MergeVerb::kSetMode, std::string(row.path), reason, std::move(open), row.choice.landing, {}});
  }

  void settle_leaf(Row& row) {
    if (row.ours == nullptr) return add(MergeVerb::kAdd, row, row.choice.reason);
    if (is_directory(row.ours)) return settle_leaf_over_directory(row);
    if (same_bytes(*row.ours, *row.choice.landing)) return set_mode(row);
    if (!row.choice.conflict || options_.prefer == Prefer::kSandbox)
      return add(MergeVerb::kUpdate, row, row.choice.reason);
    move_aside(row);
    add(MergeVerb::kAdd, row, row.choice.reason);
  }

  void settle_leaf_over_directory(Row& row) {
    if (!row.choice.conflict && !row.host_below) {
      add(MergeVerb::kRemoveDirectory, row, row.choice.reason);
    } else if (options_.prefer == Prefer::kHost) {
      return keep(row, MergeReason::kHostInTheWay);
    } else {
      move_aside(row);
    }
    add(MergeVerb::kAdd, row, row.choice.reason);
  }

  void set_mode(Row& row) { add(MergeVerb::kSetMode, row, row.choice.reason); }

  void move_aside(Row& row) {
    const std::string path(row.path);
    std::string copy;
    for (unsigned number = 1; copy.empty() || taken_names_.contains(copy); ++number) {
      copy = conflict_copy_path(path, options_.run_id, number, is_directory(row.ours));
    }
    taken_names_.insert(copy);
    add(MergeVerb::kMoveAside, row, MergeReason::kBothChanged);
    actions_.back().copy_path = std::move(copy);
  }

  void note_special_mode(const std::string& path) {
    if (options_.excluded.covers(path)) return;
    kept_.push_back({.verb = MergeVerb::kKeep, .path = path, .reason = MergeReason::kSpecialModeDropped});
  }

  void keep(const Row& row, MergeReason reason) {
    kept_.push_back({MergeVerb::kKeep, std::string(row.path), reason, copy_of(row.ours), copy_of(row.theirs), {}});
  }

  void add(MergeVerb verb, const Row& row, MergeReason reason) {
    MergeAction action{verb, std::string(row.path), reason, copy_of(row.ours), std::nullopt, {}};
    const bool lands =
        verb != MergeVerb::kDelete && verb != MergeVerb::kRemoveDirectory && verb != MergeVerb::kMoveAside;
    if (lands) {
      action.after = row.choice.landing;
      action.after->mode &= kPermissions;
    }
    actions_.push_back(std::move(action));
  }

  // A read-only directory of the host in which something has to change is opened first and closed again at the end.
  void open_closed_directories() {
    std::set<std::size_t> parents;
    for (const MergeAction& action : actions_) {
      if (action.verb == MergeVerb::kSetMode) continue;
      if (const auto parent = row_above(action.path)) parents.insert(*parent);
    }
    for (const std::size_t place : parents) open_closed_directory(rows_[place]);
  }

  std::optional<std::size_t> row_above(const std::string& path) const {
    const auto found = std::ranges::lower_bound(rows_, std::string_view(path), {}, &Row::path);
    return found == rows_.end() ? std::nullopt : found->parent;
  }

  void open_closed_directory(const Row& row) {
    if (!is_directory(row.ours) || (row.ours->mode & kOwnerMayChange) == kOwnerMayChange) return;
    const bool goes = row.choice.take && !(row.choice.landing && row.choice.landing->kind == EntryKind::kDirectory);
    const std::uint32_t last =
        row.choice.take && row.choice.landing && !goes ? row.choice.landing->mode : row.ours->mode;
    const auto mode_change = [&](std::uint32_t from, std::uint32_t to) {
      Entry before = *row.ours;
      Entry after = *row.ours;
      before.mode = from;
      after.mode = to;
      const bool wanted = row.choice.take && !goes && to == last;
      const MergeReason reason = wanted ? row.choice.reason : MergeReason::kOpenedForWriting;
      return MergeAction{MergeVerb::kSetMode, std::string(row.path), reason, before, after, {}};
    };
    std::erase_if(actions_, [&](const MergeAction& action) {
      return action.verb == MergeVerb::kSetMode && action.path == row.path;
    });
    const std::uint32_t open = row.ours->mode | kOwnerAll;
    actions_.push_back(mode_change(row.ours->mode, open));
    if (!goes && last != open) actions_.push_back(mode_change(open, last));
    if (goes) expect_open_directory(row, open);
  }

  // The removal of a directory that was opened for it finds it open.
  void expect_open_directory(const Row& row, std::uint32_t mode) {
    for (MergeAction& action : actions_) {
      if (action.path == row.path && action.verb == MergeVerb::kRemoveDirectory) action.before->mode = mode;
    }
  }

  // Doors open first, room is made from the leaves up, what lands comes from the root down, doors close last.
  std::vector<MergeAction> in_order() {
    const auto phase = [](const MergeAction& action) {
      const bool is_mode = action.verb == MergeVerb::kSetMode && action.after->kind == EntryKind::kDirectory;
      const bool opens = is_mode && (action.after->mode & kOwnerMayChange) == kOwnerMayChange &&
                         (action.before->mode & kOwnerMayChange) != kOwnerMayChange;
      if (opens) return 0;
      if (action.verb == MergeVerb::kDelete || action.verb == MergeVerb::kRemoveDirectory) return 1;
      return is_mode ? 3 : 2;
    };
    // Of one path, in the order of the verbs: aside first, then what lands.
    std::ranges::sort(actions_, [&](const MergeAction& left, const MergeAction& right) {
      const int left_phase = phase(left);
      const int right_phase = phase(right);
      if (left_phase != right_phase) return left_phase < right_phase;
      if (left.path == right.path) return left.verb < right.verb;
      const bool upwards = left_phase == 1 || left_phase == 3;
      return upwards ? right.path < left.path : left.path < right.path;
    });
    std::ranges::sort(kept_, [](const MergeAction& left, const MergeAction& right) {
      return std::tie(left.path, left.reason) < std::tie(right.path, right.reason);
    });
    std::ranges::move(kept_, std::back_inserter(actions_));
    return std::move(actions_);
  }

  std::vector<Row> rows_;
  const MergeOptions& options_;
  std::set<std::string> taken_names_;
  std::vector<MergeAction> actions_;
  std::vector<MergeAction> kept_;
  std::size_t left_ = 0;
};

void count_kept(MergeCounts& counts, MergeReason reason) {
  if (reason == MergeReason::kHeavyDirectory || reason == MergeReason::kSpecialModeDropped) return;
  ++counts.kept;
  if (reason == MergeReason::kLinkNotConfined) ++counts.refused;
}

MergeCounts count(const std::vector<MergeAction>& actions) {
  MergeCounts counts;
  for (const MergeAction& action : actions) {
    switch (action.verb) {
      case MergeVerb::kDelete:
        ++counts.deleted;
        break;
      case MergeVerb::kRemoveDirectory:
        ++counts.directories_removed;
        break;
      case MergeVerb::kMoveAside:
        ++counts.conflicts;
        break;
      case MergeVerb::kMakeDirectory:
        ++counts.directories_made;
        break;
      case MergeVerb::kAdd:
        ++counts.added;
        break;
      case MergeVerb::kUpdate:
        ++counts.updated;
        break;
      case MergeVerb::kSetMode:
        counts.modes += action.reason != MergeReason::kOpenedForWriting;
        break;
      case MergeVerb::kKeep:
        count_kept(counts, action.reason);
        break;
    }
  }
  return counts;
}

bool is_run_id(std::string_view text) {
  const auto allowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-';
  };
  return !text.empty() && text.size() <= kLongestRunId && std::ranges::all_of(text, allowed);
}

Status check_sorted(const std::vector<Entry>& entries, const char* what) {
  const auto unsorted = std::ranges::adjacent_find(
      entries, [](const Entry& left, const Entry& right) { return !(left.path < right.path); });
  if (unsorted == entries.end()) return {};
  return Error(ErrorCode::kInvalidArgument,
               std::string(what) + " is not sorted by path at " + printable(unsorted->path));
}

// At most `size` bytes, not ending within a character.
std::string_view shortened(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

const char* to_string(MergeVerb verb) {
  switch (verb) {
    case MergeVerb::kDelete:
      return "delete";
    case MergeVerb::kRemoveDirectory:
      return "rmdir";
    case MergeVerb::kMoveAside:
      return "conflict";
    case MergeVerb::kMakeDirectory:
      return "mkdir";
    case MergeVerb::kAdd:
      return "add";
    case MergeVerb::kUpdate:
      return "update";
    case MergeVerb::kSetMode:
      return "mode";
    case MergeVerb::kKeep:
      return "keep";
  }
  return "";
}

const char* to_string(MergeReason reason) {
  switch (reason) {
    case MergeReason::kNone:
      return "";
    case MergeReason::kNewInSandbox:
      return "new in the sandbox";
    case MergeReason::kChangedInSandbox:
      return "changed in the sandbox";
    case MergeReason::kDeletedInSandbox:
      return "deleted in the sandbox, unchanged on the host";
    case MergeReason::kBothChanged:
      return "changed on both sides";
    case MergeReason::kBothChangedMode:
      return "permissions changed on both sides";
    case MergeReason::kHostDeletedSandboxChanged:
      return "deleted on the host, changed in the sandbox";
    case MergeReason::kHostChangedSandboxDeleted:
      return "changed on the host, deleted in the sandbox";
    case MergeReason::kDirectoryNotEmpty:
      return "deleted in the sandbox, not empty on the host";
    case MergeReason::kHostInTheWay:
      return "the host has something else in its place";
    case MergeReason::kNeededByContents:
      return "something in it changed in the sandbox";
    case MergeReason::kOpenedForWriting:
      return "its permissions forbid changing what is in it";
    case MergeReason::kLinkNotConfined:
      return "the sandbox made it a link that leads out of the workspace";
    case MergeReason::kSpecialModeDropped:
      return "set-user-id, set-group-id and sticky bits stay in the sandbox";
    case MergeReason::kHeavyDirectory:
      return "untracked, in a directory of dependencies or build results";
    case MergeReason::kHostChangedMeanwhile:
      return "changed on the host during the merge";
  }
  return "";
}

void add(MergeCounts& sum, const MergeCounts& counts) {
  sum.added += counts.added;
  sum.updated += counts.updated;
  sum.deleted += counts.deleted;
  sum.modes += counts.modes;
  sum.directories_made += counts.directories_made;
  sum.directories_removed += counts.directories_removed;
  sum.conflicts += counts.conflicts;
  sum.kept += counts.kept;
  sum.refused += counts.refused;
  sum.left += counts.left;
}

bool MergePlan::changes_nothing() const {
  return std::ranges::all_of(actions, [](const MergeAction& action) { return action.verb == MergeVerb::kKeep; });
}

Result<MergePlan> plan_merge(const std::vector<Entry>& base, const Inventory& theirs, const Inventory& ours,
                             const MergeOptions& options) {
  if (!is_run_id(options.run_id)) {
    return Error(ErrorCode::kInvalidArgument, "'" + printable(options.run_id) + "' cannot be the id of a run");
  }
  RETURN_IF_ERROR(check_sorted(base, "the record of what was sent"));
  RETURN_IF_ERROR(check_sorted(theirs.entries, "the list of the sandbox's result"));
  RETURN_IF_ERROR(check_sorted(ours.entries, "the list of the host's workspace"));
  Planner planner(join_by_path(base, theirs.entries, ours.entries), options);
  MergePlan plan{.actions = planner.plan(theirs.stripped_modes, ours.stripped_modes),
                 .prefer = options.prefer,
                 .run_id = options.run_id};
  plan.counts = count(plan.actions);
  plan.counts.left = planner.left();
  return plan;
}

std::string conflict_copy_path(const std::string& path, const std::string& run_id, unsigned number, bool is_directory) {
  const std::size_t start = path.rfind('/') + 1;
  const std::string_view name = std::string_view(path).substr(start);
  const std::size_t dot = name.rfind('.');
  const bool has_extension =
      !is_directory && dot != std::string_view::npos && dot > 0 && name.size() - dot <= kLongestExtension;
  const std::string_view extension = has_extension ? name.substr(dot) : std::string_view();
  const std::string suffix = ".conflict-host-" + run_id + "-" + std::to_string(number) + std::string(extension);
  const std::string_view stem = name.substr(0, name.size() - extension.size());
  return path.substr(0, start) + std::string(shortened(stem, kLongestName - suffix.size())) + suffix;
}

}  // namespace cofferdam::workspace
