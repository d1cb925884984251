#include "workspace/stat_cache.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "crypto/sha256.h"
#include "system/file.h"

namespace cofferdam::workspace {
namespace {

constexpr std::string_view kMagic = "cofferdam stat cache 1\n";
constexpr std::size_t kLargestCache = std::size_t{1} << 30;
constexpr std::int64_t kSettledAfterNs = 1'000'000'000;

template <class Number>
void put(std::string& out, Number number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Reads what put() wrote; false at the end of the text.
template <class Number>
bool get(std::string_view& text, Number& number) {
  if (text.size() < sizeof number) return false;
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return true;
}

bool get_text(std::string_view& text, std::size_t size, std::string_view& piece) {
  if (text.size() < size) return false;
  piece = text.substr(0, size);
  text.remove_prefix(size);
  return true;
}

bool get_identity(std::string_view& text, system::FileIdentity& identity) {
  return get(text, identity.device) && get(text, identity.inode) && get(text, identity.mode) &&
         get(text, identity.size) && get(text, identity.mtime_ns) && get(text, identity.ctime_ns);
}

void put_identity(std::string& out, const system::FileIdentity& identity) {
  put(out, identity.device);
  put(out, identity.inode);
  put(out, identity.mode);
  put(out, identity.size);
  put(out, identity.mtime_ns);
  put(out, identity.ctime_ns);
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The records of a whole and undamaged file; else nothing.
std::string_view records_in(std::string_view content) {
  if (!content.starts_with(kMagic) || content.size() < kMagic.size() + Digest::kSize) return {};
  content.remove_prefix(kMagic.size());
  const auto expected = Digest::from_bytes(content.substr(0, Digest::kSize));
  content.remove_prefix(Digest::kSize);
  return crypto::sha256(content) == *expected ? content : std::string_view();
}

}  // namespace

StatCache StatCache::load(std::string file) {
  StatCache cache;
  cache.file_ = std::move(file);
  const auto content = system::read_file(cache.file_, kLargestCache);
  if (!content) return cache;
  std::string_view rest = records_in(*content);
  while (!rest.empty()) {
    std::uint32_t length = 0;
    Known known;
    std::string_view path;
    std::string_view digest;
    if (!get_identity(rest, known.identity) || !get_text(rest, Digest::kSize, digest) || !get(rest, length) ||
        !get_text(rest, length, path)) {
      cache.known_.clear();
      break;
    }
    known.digest = *Digest::from_bytes(digest);
    cache.known_.emplace(path, known);
  }
  return cache;
}

std::optional<Digest> StatCache::digest_of(const std::string& path, const system::FileIdentity& identity) const {
  const auto found = known_.find(path);
  if (found == known_.end() || found->second.identity != identity) return std::nullopt;
  found->second.used = true;
  return found->second.digest;
}

void StatCache::remember(const std::string& path, const system::FileIdentity& identity, const Digest& digest) {
  if (identity.ctime_ns > now_ns() - kSettledAfterNs) return;
  known_.insert_or_assign(path, Known{.identity = identity, .digest = digest, .used = true});
  changed_ = true;
}

Status StatCache::store() {
  const std::size_t forgotten = std::erase_if(known_, [](const auto& item) { return !item.second.used; });
  if (!changed_ && forgotten == 0) return {};
  std::string records;
  for (const auto& [path, known] : known_) {
    put_identity(records, known.identity);
    records += known.digest.view();
    put(records, static_cast<std::uint32_t>(path.size()));
    records += path;
  }
  changed_ = false;
  return system::replace_file(file_, std::string(kMagic) + std::string(crypto::sha256(records).view()) + records, 0600);
}

}  // namespace cofferdam::workspace
