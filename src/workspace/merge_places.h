// Where the parts of one merge lie while it is under way: shared by carrying out and undoing.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "system/tree.h"
#include "workspace/fault.h"
#include "workspace/merge_files.h"
#include "workspace/merge_journal.h"

namespace cofferdam::workspace {

class MergePlaces {
 public:
  // Makes the directories. The originals go to the journal, or, when it is on another file system or mount, where they
  // can still be moved with a rename: into the staging directory.
  static Result<MergePlaces> create(int target, const MergeJournal& journal);
  // Those that are still there.
  static Result<MergePlaces> reopen(int target, const MergeJournal& journal);

  int target() const { return target_; }
  Place prepared(std::size_t number) const { return {staging_.get(), "new-" + std::to_string(number)}; }
  Place original(std::size_t number) const { return {originals_.get(), std::to_string(number)}; }
  // False when the staging directory is gone.
  bool has_staging() const { return static_cast<bool>(staging_); }
  bool has_originals() const { return static_cast<bool>(originals_); }

 private:
  explicit MergePlaces(int target) : target_(target) {}
  int target_;
  UniqueFd staging_;
  UniqueFd originals_;
};

// Moves what is at `from` to a free conflict name beside `path`, whose parent directory is `parent`; tries `first`
// before the numbered names unless it is empty. Written to the journal before it happens. Returns the new path.
Result<std::string> move_beside(MergeJournal& journal, std::size_t number, const Place& from, int parent,
                                const std::string& path, const std::string& first, FaultPoint* faults);

}  // namespace cofferdam::workspace
