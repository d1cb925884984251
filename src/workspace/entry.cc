#include "workspace/entry.h"

#include <algorithm>

#include "crypto/sha256.h"

namespace cofferdam::workspace {
namespace {

constexpr std::string_view kFingerprintHeader = "cofferdam tree 1\n";

void put_number(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size(), 4);
  out += text;
}

// kind, mode, path, then what the kind adds. Numbers little-endian.
void put_entry(std::string& out, const Entry& entry) {
  out += static_cast<char>(entry.kind);
  put_number(out, entry.mode, 4);
  put_text(out, entry.path);
  switch (entry.kind) {
    case EntryKind::kDirectory:
      break;
    case EntryKind::kFile:
      put_number(out, entry.size, 8);
      out += entry.digest.view();
      break;
    case EntryKind::kSymlink:
      put_text(out, entry.target);
      break;
  }
}

}  // namespace

const char* to_string(OmissionReason reason) {
  switch (reason) {
    case OmissionReason::kExcluded:
      return "excluded";
    case OmissionReason::kDependencies:
      return "dependencies";
    case OmissionReason::kSocket:
      return "socket";
    case OmissionReason::kFifo:
      return "fifo";
    case OmissionReason::kDevice:
      return "device";
    case OmissionReason::kOtherFileSystem:
      return "other file system";
  }
  return "unknown";
}

Digest fingerprint_of(const std::vector<Entry>& entries) {
  crypto::Sha256 hash;
  hash.update(kFingerprintHeader);
  std::string encoded;
  for (const Entry& entry : entries) {
    encoded.clear();
    put_entry(encoded, entry);
    hash.update(encoded);
  }
  return hash.finish();
}

const Entry* find_entry(const std::vector<Entry>& entries, const std::string& path) {
  const auto found = std::ranges::lower_bound(entries, path, {}, &Entry::path);
  return found != entries.end() && found->path == path ? &*found : nullptr;
}

}  // namespace cofferdam::workspace
