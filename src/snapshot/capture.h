// Saving a directory: from a walk to a committed snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "snapshot/snapshot_store.h"
#include "workspace/progress.h"
#include "workspace/stat_cache.h"
#include "workspace/walk.h"

namespace cofferdam::snapshot {

struct CaptureRequest {
  std::string directory;  // absolute
  std::string company;
  std::string workspace;  // names what is saved: snapshots of one workspace follow each other
  std::string label;
  std::string writer;  // who saves, for the catalog: host, pid
  workspace::WalkOptions walk;
  // A Git directory that is saved in the place of the directory's own `.git`; empty: `.git` as it is.
  std::string git_directory;
  // The snapshot must be one state of the directory: a file that changed after it was read fails the save. Else it is
  // read again, and what still changes after three rounds is reported.
  bool must_hold_still = false;
  workspace::StatCache* cache = nullptr;
  workspace::Progress* progress = nullptr;
  int level = 3;         // zstd's, 1 to 19
  unsigned threads = 0;  // 0: one per processor
  // Told the name of each step before it is taken; tests end the process there.
  std::function<void(std::string_view)> on_step;
  // What whoever made the directory left out of it: told in the manifest like what this save leaves out.
  std::vector<workspace::Omission> omitted_before;
  // Asked when everything is sealed and durable, with the fingerprint of what is; an error ends the save without a
  // commit and is its result.
  std::function<Status(const Digest& fingerprint)> before_commit;
};

struct CaptureReport {
  std::string snapshot;  // id
  Digest fingerprint;
  std::uint64_t files = 0;
  std::uint64_t directories = 0;
  std::uint64_t links = 0;
  std::uint64_t bytes = 0;       // of all files
  std::uint64_t read_files = 0;  // not known from the stat cache
  std::uint64_t new_chunks = 0;
  std::uint64_t new_bytes = 0;     // plaintext that was not stored before
  std::uint64_t stored_bytes = 0;  // what this save added to the store
  std::vector<workspace::Omission> omissions;
  std::vector<std::string> stripped_modes;
  std::vector<std::string> unsettled;  // changed after they were read, to the end
};

// Saves `request.directory`. On success the snapshot is committed and durable; on failure nothing of it can be seen,
// and what was written is collected later. Errors carry the codes of docs/guide-workspaces.md.
Result<CaptureReport> capture(const SnapshotStore& store, const CaptureRequest& request);

}  // namespace cofferdam::snapshot
