#include "snapshot/capture.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <boost/json.hpp>

#include "base/strings.h"
#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "snapshot/chunk_index.h"
#include "snapshot/content_writer.h"
#include "snapshot/pack_writer.h"
#include "snapshot/source_tree.h"
#include "snapshot/ulid.h"
#include "system/parallel.h"
#include "system/tree.h"
#include "workspace/stable_read.h"

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::ReadOutcome;
using workspace::Seen;
using workspace::Walk;

constexpr std::int64_t kLeaseMs = 10 * 60 * 1000;
constexpr std::chrono::seconds kRenewEvery{60};
constexpr int kRounds = 3;

// A file as it was saved.
struct Saved {
  system::FileIdentity identity;
  Entry entry;
  FileContent content;
};

// What the newest snapshot of the workspace says of files that were cut: path → entry.
using Parent = std::map<std::string, SavedEntry, std::less<>>;

Result<Parent> load_parent(const SnapshotStore& store, const KeyRing& keys, const CaptureRequest& request) {
  Parent parent;
  ASSIGN_OR_RETURN(const auto newest,
                   store.catalog().snapshots({.company = request.company, .workspace = request.workspace, .limit = 1}));
  if (newest.empty()) return parent;
  auto manifest = store.manifest_of(newest.front(), keys);
  // A damaged parent costs time, not this save.
  if (!manifest) return parent;
  for (SavedEntry& saved : manifest->entries) {
    if (saved.pieces.empty()) continue;
    std::string path = saved.entry.path;
    parent.emplace(std::move(path), std::move(saved));
  }
  return parent;
}

// Keeps the right to write while a save takes long: renews the lease from a thread of its own until it goes. A renewal
// that fails is left to the fencing, which refuses whatever a writer without a lease wants to write.
class LeaseKeeper {
 public:
  LeaseKeeper(store::Catalog& catalog, store::WriterLease lease)
      : thread_([this, &catalog, lease = std::move(lease)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, stop, kRenewEvery, [&stop] { return stop.stop_requested(); })) {
            (void)catalog.renew(lease, now_ms(), kLeaseMs);
          }
        }) {}
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper() = default;

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // destroyed first: it stops and is joined
};

// The content of a tree, round by round, until it holds still.
class TreeSaver {
 public:
  TreeSaver(const SourceTree& source, const CaptureRequest& request, const Parent& parent, ContentWriter& content)
      : source_(source), request_(request), parent_(parent), content_(content) {}

  Status save() {
    ASSIGN_OR_RETURN(walk_, source_.walk(request_.walk));
    if (request_.progress) request_.progress->begin("Saving", total_bytes());
    Status done = save_rounds();
    if (request_.progress) request_.progress->end(static_cast<bool>(done));
    return done;
  }

  Walk& walk() { return walk_; }
  std::map<std::string, Saved>& saved() { return saved_; }
  const std::vector<std::string>& unsettled() const { return unsettled_; }
  std::uint64_t read_files() const { return read_files_; }

 private:
  std::uint64_t total_bytes() const {
    std::uint64_t total = 0;
    for (const Seen& seen : walk_.seen) total += seen.entry.size;
    return total;
  }

  // Reads what is new, then looks again: what changed meanwhile is read in the next round.
  Status save_rounds() {
    for (int round = 0; round < kRounds; ++round) {
      RETURN_IF_ERROR(save_changed());
      ASSIGN_OR_RETURN(Walk now, source_.walk(request_.walk));
      unsettled_ = differences(now);
      walk_ = std::move(now);
      if (unsettled_.empty()) return {};
    }
    if (request_.must_hold_still) return workspace::changed_while_read(unsettled_.front());
    // The last look is kept: every file in it is read below in a state it really had.
    return save_changed();
  }

  Status save_changed() {
    for (const Seen& seen : walk_.seen) {
      if (seen.entry.kind != EntryKind::kFile || is_saved(seen)) continue;
      RETURN_IF_ERROR(save_file(seen));
      if (request_.progress) request_.progress->add(seen.entry.size);
    }
    return {};
  }

  bool is_saved(const Seen& seen) const {
    const auto found = saved_.find(seen.entry.path);
    return found != saved_.end() && found->second.identity == seen.identity;
  }

  Status save_file(const Seen& seen) {
    if (auto known = known_content(seen)) {
      saved_.insert_or_assign(seen.entry.path, std::move(*known));
      return {};
    }
    ++read_files_;
    for (int attempt = 0; attempt < workspace::kReadAttempts; ++attempt) {
      Saved saved{.identity = {}, .entry = seen.entry, .content = {}};
      const SourceTree::Place place = source_.place_of(seen.entry.path);
      ASSIGN_OR_RETURN(const workspace::StableRead read,
                       content_.save(place.root, place.path, seen.entry.size, saved.content));
      if (read.outcome == ReadOutcome::kVanished) return forget(seen.entry.path);
      if (read.outcome == ReadOutcome::kChanged) continue;
      remember(std::move(saved), read.identity);
      return {};
    }
    return workspace::changed_while_read(seen.entry.path);
  }

  Status forget(const std::string& path) {
    saved_.erase(path);
    return {};
  }

  void remember(Saved saved, const system::FileIdentity& identity) {
    saved.identity = identity;
    saved.entry.size = identity.size;
    saved.entry.mode = identity.mode & workspace::kPermissionBits;
    saved.entry.mtime_ns = identity.mtime_ns;
    saved.entry.digest = saved.content.digest;
    if (request_.cache) request_.cache->remember(saved.entry.path, identity, saved.entry.digest);
    std::string path = saved.entry.path;
    saved_.insert_or_assign(std::move(path), std::move(saved));
  }

  // Content that needs no reading: the stat cache vouches for the digest, and its chunks are stored.
  std::optional<Saved> known_content(const Seen& seen) const {
    const auto digest = request_.cache ? request_.cache->digest_of(seen.entry.path, seen.identity) : std::nullopt;
    if (!digest) return std::nullopt;
    Saved saved{.identity = seen.identity, .entry = seen.entry, .content = {.digest = *digest, .pieces = nullptr}};
    saved.entry.digest = *digest;
    if (seen.entry.size == 0) return saved;
    if (seen.entry.size <= kWholeFileLimit) return content_.has(*digest) ? std::optional(saved) : std::nullopt;
    const auto before = parent_.find(seen.entry.path);
    if (before == parent_.end() || before->second.entry.digest != *digest) return std::nullopt;
    const std::vector<Piece>& pieces = before->second.pieces;
    if (!std::ranges::all_of(pieces, [this](const Piece& piece) { return content_.has(piece.digest); })) {
      return std::nullopt;
    }
    saved.content.pieces = std::make_shared<std::deque<Piece>>(pieces.begin(), pieces.end());
    return saved;
  }

  // Paths whose entry is new, gone or another than in the walk before.
  std::vector<std::string> differences(const Walk& now) const {
    std::vector<std::string> paths;
    auto before = walk_.seen.begin();
    for (const Seen& seen : now.seen) {
      while (before != walk_.seen.end() && before->entry.path < seen.entry.path)
        paths.push_back((before++)->entry.path);
      const bool known = before != walk_.seen.end() && before->entry.path == seen.entry.path;
      const bool same = known && before->entry.kind == seen.entry.kind && holds_still(seen);
      if (known) ++before;
      if (!same) paths.push_back(seen.entry.path);
    }
    for (; before != walk_.seen.end(); ++before) paths.push_back(before->entry.path);
    return paths;
  }

  bool holds_still(const Seen& seen) const { return seen.entry.kind != EntryKind::kFile || is_saved(seen); }

  const SourceTree& source_;
  const CaptureRequest& request_;
  const Parent& parent_;
  ContentWriter& content_;
  Walk walk_;
  std::map<std::string, Saved> saved_;
  std::vector<std::string> unsettled_;
  std::uint64_t read_files_ = 0;
};

// The last walk joined with what was saved of its files. A file that vanished between is left out.
std::vector<SavedEntry> join_entries(TreeSaver& saver) {
  std::vector<SavedEntry> entries;
  entries.reserve(saver.walk().seen.size());
  for (Seen& seen : saver.walk().seen) {
    if (seen.entry.kind != EntryKind::kFile) {
      entries.push_back({.entry = std::move(seen.entry), .pieces = {}});
      continue;
    }
    const auto found = saver.saved().find(seen.entry.path);
    if (found == saver.saved().end()) continue;
    const auto& pieces = found->second.content.pieces;
    entries.push_back({.entry = std::move(found->second.entry), .pieces = {}});
    if (pieces) entries.back().pieces.assign(pieces->begin(), pieces->end());
  }
  return entries;
}

Digest fingerprint_of(const std::vector<SavedEntry>& saved) {
  std::vector<Entry> entries;
  entries.reserve(saved.size());
  for (const SavedEntry& one : saved) entries.push_back(one.entry);
  return workspace::fingerprint_of(entries);
}

void count_entries(const std::vector<SavedEntry>& entries, CaptureReport& report) {
  for (const SavedEntry& saved : entries) {
    switch (saved.entry.kind) {
      case EntryKind::kDirectory:
        ++report.directories;
        break;
      case EntryKind::kFile:
        ++report.files;
        report.bytes += saved.entry.size;
        break;
      case EntryKind::kSymlink:
        ++report.links;
        break;
    }
  }
}

std::string summary_of(const CaptureReport& report) {
  return boost::json::serialize(boost::json::object{{"files", report.files},
                                                    {"directories", report.directories},
                                                    {"links", report.links},
                                                    {"bytes", report.bytes},
                                                    {"omitted", report.omissions.size()},
                                                    {"storedBytes", report.stored_bytes}});
}

// The packs that hold chunks of the manifest which were stored before.
std::vector<std::string> older_packs(const Manifest& manifest, const KeyRing& keys, const ChunkIndex& stored) {
  std::set<std::string> packs;
  for (const SavedEntry& saved : manifest.entries) {
    for_each_chunk(saved, [&](const Digest& digest, std::uint64_t, std::uint32_t) {
      if (const ChunkLocation* place = stored.find(chunk_name(keys, digest))) packs.insert(place->pack->id);
    });
  }
  return {packs.begin(), packs.end()};
}

// One save, from the lease to the commit.
class Save {
 public:
  Save(const SnapshotStore& store, const CaptureRequest& request, const KeyRing& keys, const ChunkIndex& stored)
      : store_(store), request_(request), keys_(keys), stored_(stored), key_(crypto::SecretKey::random()) {}

  Result<CaptureReport> run() {
    RETURN_IF_ERROR(begin());
    Status done = write();
    if (done) return std::move(report_);
    // What was written stays for the collection; a failure to say so changes nothing about that.
    (void)store_.catalog().abandon(lease_);
    return std::move(done.error());
  }

 private:
  void step(std::string_view name) const {
    if (request_.on_step) request_.on_step(name);
  }

  Status begin() {
    step("begin");
    report_.snapshot = "snap-" + new_ulid(now_ms());
    const store::SnapshotRecord record{.id = report_.snapshot,
                                       .company = request_.company,
                                       .workspace = request_.workspace,
                                       .label = request_.label,
                                       .created_ms = now_ms(),
                                       .key_id = keys_.current_id(),
                                       .wrapped_key = keys_.wrap_snapshot_key(key_, report_.snapshot),
                                       .manifest_object = {},
                                       .manifest_digest = {},
                                       .summary = {},
                                       .writer = request_.writer};
    ASSIGN_OR_RETURN(lease_, store_.catalog().begin_snapshot(record, now_ms(), kLeaseMs));
    return {};
  }

  Status write() {
    step("content");
    ASSIGN_OR_RETURN(const Manifest manifest, write_content());
    step("manifest");
    ASSIGN_OR_RETURN(const std::string sealed, seal_manifest(manifest, key_));
    const std::string object = manifest_object(request_.company, report_.snapshot);
    ASSIGN_OR_RETURN(const auto writer, store_.objects().create(object));
    RETURN_IF_ERROR(writer->append(sealed));
    RETURN_IF_ERROR(writer->commit());
    report_.stored_bytes += sealed.size();
    step("seal");
    const std::string digest(crypto::sha256(sealed).view());
    RETURN_IF_ERROR(store_.catalog().seal(lease_, object, sealed.size(), digest, summary_of(report_)));
    RETURN_IF_ERROR(ask_before_commit());
    step("commit");
    RETURN_IF_ERROR(store_.catalog().commit(lease_, now_ms()));
    step("committed");
    return {};
  }

  // The answer may take longer than a lease.
  Status ask_before_commit() {
    if (!request_.before_commit) return {};
    const LeaseKeeper keeper(store_.catalog(), lease_);
    return request_.before_commit(report_.fingerprint);
  }

  Result<Manifest> write_content() {
    ASSIGN_OR_RETURN(const SourceTree source, SourceTree::open(request_.directory, request_.git_directory));
    ASSIGN_OR_RETURN(const system::FileIdentity identity, source.identity());
    ASSIGN_OR_RETURN(const crypto::SecretKey* const content_key, keys_.content_key(keys_.current_id()));
    ASSIGN_OR_RETURN(const Parent parent, load_parent(store_, keys_, request_));
    PackWriter packs({.objects = store_.objects(),
                      .catalog = store_.catalog(),
                      .lease = lease_,
                      .company = request_.company,
                      .key_id = keys_.current_id(),
                      .content_key = content_key});
    ContentWriter content(keys_, stored_, packs, request_.threads == 0 ? system::default_threads() : request_.threads,
                          request_.level);
    const LeaseKeeper keeper(store_.catalog(), lease_);
    TreeSaver saver(source, request_, parent, content);
    RETURN_IF_ERROR(saver.save());
    RETURN_IF_ERROR(content.finish());
    step("packs");
    RETURN_IF_ERROR(packs.finish());
    Manifest manifest = make_manifest(saver, identity);
    step("pins");
    RETURN_IF_ERROR(store_.catalog().use_packs(lease_, older_packs(manifest, keys_, stored_)));
    report_.read_files = saver.read_files();
    report_.unsettled = saver.unsettled();
    report_.new_chunks = content.counts().new_chunks;
    report_.new_bytes = content.counts().new_bytes;
    report_.stored_bytes = packs.stored_bytes();
    return manifest;
  }

  Manifest make_manifest(TreeSaver& saver, const system::FileIdentity& root) {
    Manifest manifest{.snapshot = report_.snapshot,
                      .company = request_.company,
                      .workspace = request_.workspace,
                      .created_ms = now_ms(),
                      .root_mode = root.mode & workspace::kPermissionBits,
                      .fingerprint = {},
                      .entries = join_entries(saver),
                      .omissions = saver.walk().omissions,
                      .stripped_modes = saver.walk().stripped_modes};
    manifest.omissions.insert(manifest.omissions.end(), request_.omitted_before.begin(), request_.omitted_before.end());
    std::ranges::sort(manifest.omissions, {}, &workspace::Omission::path);
    manifest.fingerprint = fingerprint_of(manifest.entries);
    report_.fingerprint = manifest.fingerprint;
    report_.omissions = manifest.omissions;
    report_.stripped_modes = manifest.stripped_modes;
    count_entries(manifest.entries, report_);
    return manifest;
  }

  const SnapshotStore& store_;
  const CaptureRequest& request_;
  const KeyRing& keys_;
  const ChunkIndex& stored_;
  crypto::SecretKey key_;
  store::WriterLease lease_;
  CaptureReport report_;
};

}  // namespace

Result<CaptureReport> capture(const SnapshotStore& store, const CaptureRequest& request) {
  ASSIGN_OR_RETURN(const KeyRing keys, store.keys_of(request.company));
  ASSIGN_OR_RETURN(const ChunkIndex stored, ChunkIndex::load(store, keys));
  return Save(store, request, keys, stored).run();
}

}  // namespace cofferdam::snapshot
