// The folder that one run has in the state directory, and what it must undo if its process dies.
//
//   <state>/active/<run id>   while the run lives: the folder's lock is held and `undo` lists what to remove
//   <state>/runs/<run id>     afterwards: decisions.jsonl and what else is kept for the reader
//
// Whoever finds a folder in active/ whose lock is free has found a run that died, and cleans up for it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "confinement/plan.h"

namespace cofferdam::control {

// What a run makes outside its sandbox and takes away again.
struct UndoList {
  std::vector<std::string> cgroups;
  std::vector<confinement::Placeholder> placeholders;
  bool empty() const { return cgroups.empty() && placeholders.empty(); }
};

// Owner of an active run's folder. Destruction undoes what is listed and files the folder under runs/; what is
// still in use by another run is left for the next sweep.
class RunFolder {
 public:
  // Makes state directory and folder. Sweeps after runs that died. Until started(), other runs of this user neither
  // start nor end: what they make and take away in a workspace stays as this run finds it.
  static Result<RunFolder> create();

  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) noexcept = delete;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  const std::string& run_id() const { return run_id_; }
  // Keeps its name while the run lives; decisions are recorded below it.
  const std::string& path() const { return path_; }

  // Durably noted before any of it exists.
  Status will_undo(UndoList list);

  // What runs that live now have put where it does not belong.
  std::vector<confinement::Placeholder> placeholders_of_others() const;

  // Everything outside the sandbox is made and locked.
  void started() { start_lock_.reset(); }

 private:
  RunFolder() = default;
  std::string state_;
  std::string run_id_;
  std::string path_;
  UniqueFd lock_;
  UniqueFd start_lock_;
  UndoList undo_;
};

// Folders of finished runs below `<state>/runs`, oldest first.
std::vector<std::string> finished_runs(const std::string& state_directory);

}  // namespace cofferdam::control
