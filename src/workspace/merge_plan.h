// The three-way merge of a sandbox's result into the host's workspace, as a computation: three lists go in, an ordered
// list of actions with reasons comes out, and nothing is touched. Pure and thread-safe.
//
// The base is the record of what was sent, never a scan of the host: a path that was not sent is never deleted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/entry.h"
#include "workspace/path_set.h"

namespace cofferdam::workspace {

// Whose version stays where both sides changed the same thing in different ways.
enum class Prefer : std::uint8_t {
  kBoth,     // the sandbox's lands, the host's is first moved beside it
  kSandbox,  // the sandbox's replaces the host's
  kHost,     // the host's stays
};

struct MergeOptions {
  Prefer prefer = Prefer::kBoth;
  std::string run_id;  // part of the names of conflict copies: 1 to 64 of A-Z a-z 0-9 _ -
  PathSet excluded;    // neither written nor deleted, with everything below
  // Leaves new and changed paths in dependency and build directories (patterns.h) in the sandbox, unless tracked.
  bool leave_heavy_directories = false;
  std::function<bool(const std::string& path)> is_tracked;  // unset: nothing is
};

enum class MergeVerb : std::uint8_t {
  kDelete,           // a file or link goes
  kRemoveDirectory,  // a directory goes if it is empty
  kMoveAside,        // what the host has goes to `copy_path`, whatever it is
  kMakeDirectory,
  kAdd,      // a file or link comes to a free place
  kUpdate,   // a file or link replaces a file or link
  kSetMode,  // of a file or directory
  kKeep,     // nothing is done, and the user should know
};
const char* to_string(MergeVerb verb);

enum class MergeReason : std::uint8_t {
  kNone,
  kNewInSandbox,
  kChangedInSandbox,
  kDeletedInSandbox,
  kBothChanged,
  kBothChangedMode,
  kHostDeletedSandboxChanged,
  kHostChangedSandboxDeleted,
  kDirectoryNotEmpty,
  kHostInTheWay,      // the host's file or directory has the place
  kNeededByContents,  // a directory that the host removed and something new needs
  kOpenedForWriting,  // its mode forbids changing what is in it; put back at the end
  kLinkNotConfined,
  kSpecialModeDropped,
  kHeavyDirectory,
  kHostChangedMeanwhile,  // after the host was looked at; only while a plan is carried out
};
// A clause that completes "<path>: ".
const char* to_string(MergeReason reason);

struct MergeAction {
  MergeVerb verb = MergeVerb::kKeep;
  std::string path;
  MergeReason reason = MergeReason::kNone;
  std::optional<Entry> before;  // what the host has; checked again before anything is touched
  std::optional<Entry> after;   // what it is to have
  std::string copy_path;        // of kMoveAside
};

struct MergeCounts {
  std::size_t added = 0;
  std::size_t updated = 0;
  std::size_t deleted = 0;
  std::size_t modes = 0;
  std::size_t directories_made = 0;
  std::size_t directories_removed = 0;
  std::size_t conflicts = 0;
  std::size_t kept = 0;
  std::size_t refused = 0;  // of kept: links that leave the tree
  std::size_t left = 0;     // changed paths in heavy directories that stay in the sandbox
  bool operator==(const MergeCounts&) const = default;
};

// Adds up what several merges did.
void add(MergeCounts& sum, const MergeCounts& counts);

struct MergePlan {
  std::vector<MergeAction> actions;  // in the order in which they can be carried out
  MergeCounts counts;
  Prefer prefer = Prefer::kBoth;
  std::string run_id;

  bool changes_nothing() const;
};

// kInvalidArgument for a bad run id or a list that is not sorted by path without duplicates.
Result<MergePlan> plan_merge(const std::vector<Entry>& base, const Inventory& theirs, const Inventory& ours,
                             const MergeOptions& options);

// "report.txt" → "report.conflict-host-<run id>-<number>.txt", beside the original. The last name has at most 255
// bytes: the stem is shortened. The extension of a directory is not kept apart.
std::string conflict_copy_path(const std::string& path, const std::string& run_id, unsigned number, bool is_directory);

}  // namespace cofferdam::workspace
