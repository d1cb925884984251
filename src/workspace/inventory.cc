#include "workspace/inventory.h"

#include <algorithm>
#include <utility>

#include "crypto/sha256.h"
#include "system/parallel.h"
#include "workspace/stable_read.h"
#include "workspace/stat_cache.h"

namespace cofferdam::workspace {
namespace {

constexpr std::size_t kReadSize = 256 * 1024;

// Fills in what is known of the file now. False when it is gone.
Result<bool> hash_file(int root, Seen& seen, std::string& buffer) {
  crypto::Sha256 hash;
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ASSIGN_OR_RETURN(const StableRead read, read_stable(root, seen.entry.path, buffer, [&](std::string_view piece) {
                       hash.update(piece);
                       return Status();
                     }));
    const Digest digest = hash.finish();
    if (read.outcome == ReadOutcome::kVanished) return false;
    if (read.outcome == ReadOutcome::kChanged) continue;
    seen.identity = read.identity;
    seen.entry.size = read.identity.size;
    seen.entry.mtime_ns = read.identity.mtime_ns;
    seen.entry.mode = read.identity.mode & kPermissionBits;
    seen.entry.digest = digest;
    return true;
  }
  return changed_while_read(seen.entry.path);
}

// Digests of everything that must be read, in parallel; the names of what is gone meanwhile.
Status hash_files(int root, Walk& walk, const InventoryOptions& options, std::vector<bool>& gone) {
  std::vector<std::size_t> unread;
  for (std::size_t i = 0; i < walk.seen.size(); ++i) {
    Seen& seen = walk.seen[i];
    if (seen.entry.kind != EntryKind::kFile) continue;
    const auto known = options.cache ? options.cache->digest_of(seen.entry.path, seen.identity) : std::nullopt;
    if (known) {
      seen.entry.digest = *known;
    } else {
      unread.push_back(i);
    }
  }
  std::vector<char> lost(walk.seen.size(), 0);  // not vector<bool>: threads write neighbours
  RETURN_IF_ERROR(system::for_each_parallel(unread.size(), options.threads, [&](std::size_t index) -> Status {
    thread_local std::string buffer(kReadSize, '\0');
    ASSIGN_OR_RETURN(const bool there, hash_file(root, walk.seen[unread[index]], buffer));
    lost[unread[index]] = there ? 0 : 1;
    return {};
  }));
  for (const std::size_t i : unread) {
    gone[i] = lost[i] != 0;
    if (options.cache && !gone[i]) {
      options.cache->remember(walk.seen[i].entry.path, walk.seen[i].identity, walk.seen[i].entry.digest);
    }
  }
  return {};
}

}  // namespace

Result<Inventory> take_inventory(int root, const InventoryOptions& options) {
  ASSIGN_OR_RETURN(Walk walk, walk_tree(root, options.walk));
  std::vector<bool> gone(walk.seen.size(), false);
  if (options.hash_content) RETURN_IF_ERROR(hash_files(root, walk, options, gone));
  Inventory inventory{
      .entries = {}, .omissions = std::move(walk.omissions), .stripped_modes = std::move(walk.stripped_modes)};
  inventory.entries.reserve(walk.seen.size());
  for (std::size_t i = 0; i < walk.seen.size(); ++i) {
    if (!gone[i]) inventory.entries.push_back(std::move(walk.seen[i].entry));
  }
  return inventory;
}

}  // namespace cofferdam::workspace
