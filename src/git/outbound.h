// Bringing history home: from a repository that a run may have written, to the user's own.
//
// export_history looks at the sandbox's side and gives a bundle; import_history takes the bundle into the host's object
// store and keeps every reference in it under a name of the run; integrate_history moves the branch that the host has
// checked out; settle_index makes the host's index right afterwards. The files of the working tree are not touched
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/history_base.h"
#include "git/refs.h"
#include "git/staged.h"

namespace cofferdam::git {

struct TransferBounds {
  std::uint64_t bundle_bytes = std::uint64_t{16} << 30;
  std::size_t refs = 1'000;  // that the run made or moved
};

enum class BundleScope : std::uint8_t {
  kSinceBase,   // what the base does not have (thin)
  kEverything,  // for a host that lost the base
};

struct ExportRequest {
  std::string sandbox;  // the sandbox's working tree, absolute; nothing writes it any more
  HistoryBase base;
  std::string scratch;  // a private directory; the bundle is left there
  std::string run;      // name of the run: letters, digits, '-', '_'; at most 64
  BundleScope scope = BundleScope::kSinceBase;
  TransferBounds bounds;
};

struct ExportedHistory {
  std::string run;
  ObjectFormat format = ObjectFormat::kSha1;
  Head base_head;
  std::vector<Ref> base_refs;
  Head head;                       // of the sandbox
  std::vector<Ref> refs;           // branches, tags, notes and the stash that the run made or moved, by their own names
  std::string bundle;              // file with what the host lacks; empty when that is nothing
  StagedPaths base_staged;         // the index against HEAD when the workspace was sent,
  StagedPaths sandbox_staged;      // and now
  std::string index_id;            // commit with the content that the run staged; empty when there is none
  std::vector<std::string> notes;  // what stays behind, and why: full sentences
};

// What a run did in its repository, as data. Executes nothing of it, reads nothing outside of it. kPermissionDenied
// when the repository points out of the sandbox, kNotFound when there is none any more.
Result<ExportedHistory> export_history(GitProgram& git, const ExportRequest& request);

struct KeptRef {
  std::string name;    // in the sandbox
  std::string reason;  // why the host has it only under the name of the run
};

struct ImportedHistory {
  std::string prefix;                  // refs/paperclip/…/<run>: below it everything is kept, HEAD and index included
  std::vector<std::string> created;    // branches and tags that the host did not have
  std::vector<std::string> forwarded;  // branches that the host had not moved since
  std::vector<KeptRef> kept;
  bool needs_full_bundle = false;  // nothing was imported: the host lacks what the bundle builds on
};

// Takes the bundle in as untrusted: its header is checked, every object is (fsck, strict), nothing may point to an
// object that is not there. References change only from what they were when they were looked at.
Result<ImportedHistory> import_history(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                       const std::string& scratch, const TransferBounds& bounds = {});

struct Integration {
  enum class Relation : std::uint8_t { kNothing, kFastForward, kMerged, kGrafted, kHeldBack };
  Relation relation = Relation::kNothing;
  std::string branch;    // full name; empty when HEAD is detached
  std::string old_head;  // empty when it was unborn
  std::string new_head;
  std::string reason;  // of kHeldBack: a merge or rebase of the user's is in progress
};
std::string_view to_string(Integration::Relation relation);

// Brings the sandbox's HEAD into what the host has checked out: fast-forward, merge, or graft of unrelated history.
// Changes one reference, compared and swapped, at most five times tried. kFailedPrecondition with the texts that
// Paperclip has for a conflict and for lost races; the host is as it was then, and the imported references stay. May be
// repeated after a crash, with settle_index: it tells old_head again as it was before the run's history came.
Result<Integration> integrate_history(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                      const std::string& scratch);

struct IndexSettlement {
  std::size_t changed = 0;             // paths of the host's index
  std::vector<std::string> conflicts;  // paths that both sides staged: the host's stays
};

// After integrate_history (and the merge of the files): see merge_indexes for the rule. Under git's own index.lock;
// kUnavailable when somebody else holds it.
Result<IndexSettlement> settle_index(GitProgram& git, const std::string& host, const ExportedHistory& exported,
                                     const Integration& integration, const std::string& scratch);

struct Homecoming {
  ExportedHistory exported;
  ImportedHistory imported;
  std::optional<Integration> integration;  // absent when it failed
  std::optional<Error> failure;            // why: the commits are still at imported.prefix
};

// Export, import (once more with everything when the host lost the base) and integration. settle_index is left to the
// caller, who merges the files in between.
Result<Homecoming> bring_history_home(GitProgram& git, const std::string& host, ExportRequest request);

// Removes what import_history kept of a run. Branches and tags that it created stay.
Status forget_imported(GitProgram& git, const std::string& host, const std::string& run, const std::string& scratch);

}  // namespace cofferdam::git
