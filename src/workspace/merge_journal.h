// What a merge wrote down before it touched the workspace, so that the next command can put things right after a crash.
//
// A directory of its own for each workspace, mode 0700, holding at most one merge:
//   plan        the steps, before anything else happens     staged      what was prepared, before anything is replaced
//   aside       where something of the host's was moved to  committed   nothing is undone any more
//   originals/  what was replaced or deleted, by the number of its step
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/merge_plan.h"

namespace cofferdam::workspace {

// As much of an action as undoing it needs. `number` is its place in the plan.
struct JournalStep {
  std::size_t number = 0;
  MergeVerb verb = MergeVerb::kKeep;
  std::uint32_t mode_before = 0;
  std::uint32_t mode_after = 0;
  std::string path;
  bool operator==(const JournalStep&) const = default;
};

// What tells something we prepared from whatever else has its name.
struct Prepared {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const Prepared&) const = default;
};

// Not thread-safe; the workspace's lock is held while one exists. Every record is on the disk when its call returns.
class MergeJournal {
 public:
  // kFailedPrecondition when the directory holds a merge already: recover first.
  static Result<MergeJournal> create(const std::string& directory, const MergePlan& plan);
  // Nothing when no merge is under way. kDataLoss when a record cannot be read.
  static Result<std::optional<MergeJournal>> load(const std::string& directory);

  // The directory in the workspace's root where new content is prepared.
  std::string staging_name() const { return ".paperclip-upload-" + id_; }
  const std::string& run_id() const { return run_id_; }
  const std::vector<JournalStep>& steps() const { return steps_; }
  const std::map<std::size_t, Prepared>& prepared() const { return prepared_; }
  const std::map<std::size_t, std::string>& asides() const { return asides_; }
  bool was_staged() const { return staged_; }
  bool is_committed() const { return committed_; }
  int directory() const { return directory_.get(); }

  Status record_prepared(std::map<std::size_t, Prepared> prepared);
  // Where steps are going to move something of the host's; whether they did is seen by what is there.
  Status record_asides(std::map<std::size_t, std::string> paths);
  // The same for one step. A later record replaces an earlier one.
  Status record_aside(std::size_t number, const std::string& path);
  Status commit();
  // Forgets the merge and the originals.
  Status erase();

 private:
  MergeJournal(std::string path, UniqueFd directory) : path_(std::move(path)), directory_(std::move(directory)) {}
  Status write(const char* name, const std::string& text) const;

  std::string path_;
  UniqueFd directory_;
  std::string id_;
  std::string run_id_;
  std::vector<JournalStep> steps_;
  std::map<std::size_t, Prepared> prepared_;
  std::map<std::size_t, std::string> asides_;
  bool staged_ = false;
  bool committed_ = false;
};

}  // namespace cofferdam::workspace
