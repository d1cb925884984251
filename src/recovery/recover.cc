#include "recovery/recover.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "recovery/failure.h"
#include "recovery/git_check.h"
#include "recovery/listing.h"
#include "recovery/portable_archive.h"
#include "recovery/staging.h"
#include "recovery/tracked_names.h"

namespace cofferdam::recovery {
namespace {

using GitChoice = Result<std::unique_ptr<git::GitProgram>>;
using Listing = std::vector<SourceEntry>;

constexpr int kFileChanged = 1;          // a stream's exit code
constexpr std::size_t kNoMore = 65'536;  // bytes behind the end of an archive that are read to see how it ended
constexpr std::string_view kConflict = "writer_conflict";

// Paths that are in no copy.
workspace::PathSet left_out(const RecoveryRequest& request) {
  workspace::PathSet paths = request.exclude;
  paths.add(kRuntimeDirectory);
  return paths;
}

Error changed(const std::string& path) {
  return failure(Failure::kSourceChanged,
                 (path.empty() ? "the workspace" : printable(path)) + " changed in the sandbox while it was captured");
}

// Whatever the connection said, as a failure; one that is a failure already stays what it is.
Error as_download(const Error& error) {
  for (auto kind = Failure::kSandboxQuota; kind <= Failure::kSeal;
       kind = static_cast<Failure>(static_cast<int>(kind) + 1)) {
    if (error.message().starts_with(std::string(name_of(kind)) + ": ")) return error;
  }
  return failure(is_disk_full(error) ? Failure::kControllerDiskFull : Failure::kDownload, error.to_string());
}

// The durable save and what it may fail with. An error of `before_commit` is told as it is.
Result<snapshot::CaptureReport> sealed(const Seal& seal, SealRequest request) {
  std::optional<Error> doubt;
  if (request.before_commit) {
    request.before_commit = [&doubt, check = std::move(request.before_commit)](const Digest& fingerprint) {
      Status status = check(fingerprint);
      if (!status) doubt = status.error();
      return status;
    };
  }
  auto report = seal(request);
  if (report) return report;
  if (doubt) return *doubt;
  const Error& error = report.error();
  if (is_disk_full(error)) return failure(Failure::kControllerDiskFull, error.to_string());
  return failure(error.message().starts_with(kConflict) ? Failure::kWriterConflict : Failure::kSeal, error.to_string());
}

// The capture from this side, box by box.
class ControllerCapture {
 public:
  ControllerCapture(Source& source, const GitChoice& git, const Seal& seal, const RecoveryRequest& request,
                    Staging staging)
      : source_(source),
        git_(git),
        seal_(seal),
        request_(request),
        staging_(std::move(staging)),
        deadline_(request.now, request.limits.verification) {
    rules_.bounds.entries = request.limits.entries;
    rules_.bounds.bytes = rules_.bounds.file_bytes = request.limits.bytes;
  }

  Result<Recovered> run() {
    ASSIGN_OR_RETURN(listing_, source_.inventory(left_out(request_)));
    RETURN_IF_ERROR(plan());
    RETURN_IF_ERROR(transfer());
    RETURN_IF_ERROR(compare_copy());
    RETURN_IF_ERROR(check_git());
    return seal();
  }

 private:
  // Which process of Git there could be before this is none: nothing here starts one.
  Status plan() {
    ASSIGN_OR_RETURN(const std::vector<git::IndexName> tracked, read_tracked_names(source_, listing_));
    plan_ = choose_entries(listing_, tracked, left_out(request_), request_.with_dependencies);
    RETURN_IF_ERROR(check_plan(plan_, tracked, request_.limits));
    return staging_.check_room(plan_.bytes, plan_.entries.size());
  }

  Status transfer() {
    const Status received = read_stream([this](const workspace::ByteSource& bytes) -> Status {
      ASSIGN_OR_RETURN([[maybe_unused]] const auto extracted, staging_.receive(bytes, rules_));
      return {};
    });
    if (!received) return received;
    return staging_.set_root_mode(listing_.front().mode);
  }

  // One pass over the source. When it fails because something changed there, that is what is told.
  Status read_stream(const std::function<Status(const workspace::ByteSource&)>& take) {
    const Status read = read_stream_once(take);
    if (read || is_disk_full(read.error())) return read ? read : Status(as_download(read.error()));
    if (const Status still = check_source_holds_still(); !still) return still;
    return as_download(read.error());
  }

  Status read_stream_once(const std::function<Status(const workspace::ByteSource&)>& take) {
    ASSIGN_OR_RETURN(const auto stream, source_.stream(plan_.exclude));
    Status taken = take(bytes_of(*stream));
    if (!taken && is_disk_full(taken.error())) return taken;
    auto rest = collect(*stream, kNoMore);
    if (!rest) return taken ? Status(rest.error()) : taken;
    const ExecOutcome& outcome = rest->outcome;
    if (outcome.exit_code == 0 && taken) return {};
    if (outcome.exit_code == 0) return taken;
    const std::string words = printable(trimmed(outcome.error_text));
    if (outcome.exit_code == kFileChanged) return failure(Failure::kSourceChanged, words);
    return failure(Failure::kDownload, "the sandbox could not stream its files (exit code " +
                                           std::to_string(outcome.exit_code) + "): " + words);
  }

  Status check_source_holds_still() {
    ASSIGN_OR_RETURN(const Listing now, source_.inventory(left_out(request_)));
    const auto path = first_change(listing_, now);
    return path ? Status(changed(*path)) : Status();
  }

  // The source's content, read once more, and the look that it is still the state that was listed.
  Result<std::vector<workspace::Entry>> fingerprints() {
    std::vector<workspace::Entry> entries;
    RETURN_IF_ERROR(read_stream([&](const workspace::ByteSource& bytes) -> Status {
      ASSIGN_OR_RETURN(workspace::Extracted seen, workspace::inspect_archive(bytes, rules_));
      entries = std::move(seen.inventory.entries);
      return {};
    }));
    RETURN_IF_ERROR(check_source_holds_still());
    return entries;
  }

  Status compare_copy() {
    ASSIGN_OR_RETURN(const std::vector<workspace::Entry> source, fingerprints());
    const SharedDeadline::Work work(deadline_);
    ASSIGN_OR_RETURN(const workspace::Inventory copy, staging_.inventory());
    if (const auto path = first_difference(plan_.entries, without_content(copy.entries))) return mismatch(*path);
    if (const auto path = first_difference(source, copy.entries)) return mismatch(*path);
    copied_ = workspace::fingerprint_of(copy.entries);
    return deadline_.check();
  }

  static Error mismatch(const std::string& path) {
    return failure(Failure::kInventoryMismatch, "the copy of " + printable(path) + " is not what the sandbox holds");
  }

  Status check_git() {
    if (plan_.repositories.empty()) return {};
    if (!git_) return failure(Failure::kGitUnverified, git_.error().to_string());
    const SharedDeadline::Work work(deadline_);
    return check_repositories(staging_.tree(), plan_.repositories, **git_, staging_.scratch(), request_.limits,
                              deadline_);
  }

  Result<Recovered> seal() {
    const auto check = [this](const Digest& fingerprint) { return check_sealed(fingerprint); };
    ASSIGN_OR_RETURN(
        snapshot::CaptureReport report,
        sealed(seal_, {.directory = staging_.tree(), .omissions = plan_.omissions, .before_commit = check}));
    return Recovered{.capture = std::move(report), .road = Road::kController};
  }

  // What is sealed is what was copied, and what the source still is.
  Status check_sealed(const Digest& fingerprint) {
    if (fingerprint != copied_) {
      return failure(Failure::kInventoryMismatch, "what was sealed is not the copy that was compared");
    }
    ASSIGN_OR_RETURN(const std::vector<workspace::Entry> source, fingerprints());
    const SharedDeadline::Work work(deadline_);
    if (workspace::fingerprint_of(source) != copied_) return changed("");
    return deadline_.check();
  }

  Source& source_;
  const GitChoice& git_;
  const Seal& seal_;
  const RecoveryRequest& request_;
  Staging staging_;
  SharedDeadline deadline_;
  workspace::ArchiveRules rules_;
  Listing listing_;
  CapturePlan plan_;
  Digest copied_{};
};

// The usual capture: an archive in the sandbox, fetched, unpacked and saved.
class PortableCapture {
 public:
  PortableCapture(Source& source, const Seal& seal, const RecoveryRequest& request, Staging staging)
      : source_(source), seal_(seal), request_(request), staging_(std::move(staging)), scratch_(source, request.name) {}

  // Nothing when the disk of the sandbox was full: disk_full() tells its words then.
  Result<std::optional<Recovered>> run() {
    ASSIGN_OR_RETURN(listing_, source_.inventory(left_out(request_)));
    ASSIGN_OR_RETURN(mirrors_, elsewhere());
    choose();
    auto fetched = fetch();
    const Status removed = scratch_.remove();
    if (!fetched) return as_download(fetched.error());
    if (!*fetched) return std::optional<Recovered>();
    if (!removed) recovered_.notes.push_back(removed.error().message());
    RETURN_IF_ERROR(check_source_holds_still());
    ASSIGN_OR_RETURN(recovered_.capture,
                     sealed(seal_, {.directory = staging_.tree(), .omissions = plan_.omissions, .before_commit = {}}));
    recovered_.capture.stripped_modes = plan_.special_modes;
    return std::optional(std::move(recovered_));
  }

  const std::string& disk_full() const { return disk_full_; }

 private:
  Result<bool> elsewhere() const {
    ASSIGN_OR_RETURN(const bool inside, history_is_inside(listing_));
    return !inside;
  }

  void choose() {
    const auto tracked = read_tracked_names(source_, listing_);
    // Without knowing what is tracked nothing may be called mere dependencies.
    const bool unknown = !tracked || mirrors_;
    plan_ = choose_entries(listing_, tracked ? *tracked : std::vector<git::IndexName>(), left_out(request_),
                           request_.with_dependencies || unknown);
  }

  // Whether the archive could be written; if so it is unpacked.
  Result<bool> fetch() {
    ASSIGN_OR_RETURN(const PortableArchive archive, scratch_.make_archive(plan_.exclude, mirrors_));
    if (archive.end == WriteEnd::kQuota) return failure(Failure::kSandboxQuota, archive.words);
    if (archive.end == WriteEnd::kDiskFull) {
      disk_full_ = failure(Failure::kSandboxDiskFull, archive.words).message();
      return false;
    }
    if (archive.changed) return changed("");
    const workspace::ArchiveRules rules{.unconfined_links = workspace::LinkPolicy::kRecord, .mask_special_modes = true};
    ASSIGN_OR_RETURN(workspace::Extracted extracted, staging_.receive(scratch_.archive(), rules));
    RETURN_IF_ERROR(staging_.set_root_mode(listing_.front().mode));
    recovered_.leading_links = std::move(extracted.recorded_links);
    return true;
  }

  Status check_source_holds_still() {
    workspace::PathSet without = left_out(request_);
    without.add(scratch_.path());
    ASSIGN_OR_RETURN(const Listing now, source_.inventory(without));
    const auto path = first_change(listing_, now);
    return path ? Status(changed(*path)) : Status();
  }

  Source& source_;
  const Seal& seal_;
  const RecoveryRequest& request_;
  Staging staging_;
  PortableScratch scratch_;
  bool mirrors_ = false;  // the history lies elsewhere: a copy of it is archived
  Listing listing_;
  CapturePlan plan_;
  Recovered recovered_;
  std::string disk_full_;
};

}  // namespace

Result<Recovered> capture_from_controller(Source& source, const GitChoice& git, const Seal& seal,
                                          const RecoveryRequest& request) {
  auto staging = Staging::create(request.scratch);
  if (!staging) return as_download(staging.error());
  auto recovered = ControllerCapture(source, git, seal, request, *std::move(staging)).run();
  if (!recovered) return as_download(recovered.error());
  return recovered;
}

Result<Recovered> save_from_sandbox(Source& source, const GitChoice& git, const Seal& seal,
                                    const RecoveryRequest& request) {
  std::string disk_full;
  {
    auto staging = Staging::create(request.scratch);
    if (!staging) return as_download(staging.error());
    PortableCapture portable(source, seal, request, *std::move(staging));
    ASSIGN_OR_RETURN(auto recovered, portable.run());
    if (recovered) return *std::move(recovered);
    disk_full = portable.disk_full();
  }
  // Should what the first attempt began lie there still: it is no part of the workspace.
  RecoveryRequest second = request;
  second.exclude.add(portable_scratch_path(request.name));
  auto recovered = capture_from_controller(source, git, seal, second);
  if (!recovered) {
    return std::move(recovered.error()).with_context("after the capture in the sandbox met \"" + disk_full + "\"");
  }
  recovered->disk_full = std::move(disk_full);
  return recovered;
}

}  // namespace cofferdam::recovery
