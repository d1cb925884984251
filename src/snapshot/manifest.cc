#include "snapshot/manifest.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "crypto/seal.h"
#include "snapshot/binary.h"
#include "snapshot/pack_format.h"

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::Omission;
using workspace::OmissionReason;

constexpr std::string_view kHead = "CFDMANI1";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kLargestEncoding = std::size_t{2} << 30;
constexpr std::size_t kSmallestEntry = 1 + 4 + 8 + 4;
constexpr std::size_t kSmallestText = 4;
constexpr int kLevel = 3;

std::string context_of(const std::string& company, const std::string& snapshot) {
  return "cofferdam manifest 1\n" + company + "\n" + snapshot;
}

void put_entry(Encoder& out, const SavedEntry& saved) {
  const Entry& entry = saved.entry;
  out.number8(static_cast<std::uint8_t>(entry.kind));
  out.number32(entry.mode);
  out.number64(static_cast<std::uint64_t>(entry.mtime_ns));
  out.text(entry.path);
  if (entry.kind == EntryKind::kSymlink) out.text(entry.target);
  if (entry.kind != EntryKind::kFile) return;
  out.number64(entry.size);
  out.digest(entry.digest);
  out.number32(static_cast<std::uint32_t>(saved.pieces.size()));
  for (const Piece& piece : saved.pieces) {
    out.digest(piece.digest);
    out.number32(piece.size);
  }
}

bool kind_is_known(std::uint8_t kind) {
  return kind <= static_cast<std::uint8_t>(EntryKind::kSymlink);
}

bool path_is_sound(std::string_view path) {
  if (path.empty() || path.contains('\0')) return false;
  for (const std::string_view name : split(path, '/')) {
    if (name.empty() || name == "." || name == "..") return false;
  }
  return true;
}

bool pieces_are_sound(const SavedEntry& saved) {
  if (saved.pieces.empty()) return saved.entry.size <= kWholeFileLimit;
  std::uint64_t sum = 0;
  for (const Piece& piece : saved.pieces) {
    if (piece.size == 0 || piece.size > kLargestChunk) return false;
    sum += piece.size;
  }
  return sum == saved.entry.size;
}

void get_file(Decoder& in, SavedEntry& saved) {
  saved.entry.size = in.number64();
  saved.entry.digest = in.digest();
  saved.pieces.resize(in.count(Digest::kSize + 4));
  for (Piece& piece : saved.pieces) piece = {.digest = in.digest(), .size = in.number32()};
  if (!pieces_are_sound(saved)) in.fail();
}

SavedEntry get_entry(Decoder& in) {
  SavedEntry saved;
  Entry& entry = saved.entry;
  const std::uint8_t kind = in.number8();
  if (!kind_is_known(kind)) in.fail();
  if (in.failed()) return saved;
  entry.kind = static_cast<EntryKind>(kind);
  entry.mode = in.number32();
  entry.mtime_ns = static_cast<std::int64_t>(in.number64());
  entry.path = in.text();
  if ((entry.mode & ~0777U) != 0 || !path_is_sound(entry.path)) in.fail();
  if (entry.kind == EntryKind::kSymlink) entry.target = in.text();
  if (entry.kind == EntryKind::kFile) get_file(in, saved);
  return saved;
}

// A directory must come before what it holds, and nothing may lie below a file or link: whoever restores relies on it.
bool order_is_sound(const std::vector<SavedEntry>& entries) {
  std::vector<std::string_view> directories;
  std::string_view previous;
  for (const SavedEntry& saved : entries) {
    const std::string_view path = saved.entry.path;
    if (path <= previous) return false;
    previous = path;
    const std::size_t slash = path.rfind('/');
    const std::string_view parent = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    // Sorting by bytes may put "a!b" between "a" and "a/b", so this is a search, not a stack.
    if (!parent.empty() && !std::binary_search(directories.begin(), directories.end(), parent)) return false;
    if (saved.entry.kind == EntryKind::kDirectory) directories.push_back(path);
  }
  return true;
}

std::vector<Entry> plain_entries(const std::vector<SavedEntry>& saved) {
  std::vector<Entry> entries;
  entries.reserve(saved.size());
  for (const SavedEntry& one : saved) entries.push_back(one.entry);
  return entries;
}

void get_omissions(Decoder& in, std::vector<Omission>& omissions) {
  omissions.resize(in.count(1 + kSmallestText));
  for (Omission& omission : omissions) {
    const std::uint8_t reason = in.number8();
    if (reason > static_cast<std::uint8_t>(OmissionReason::kOtherFileSystem)) in.fail();
    omission = {.path = std::string(in.text()), .reason = static_cast<OmissionReason>(reason)};
  }
}

}  // namespace

std::string encode(const Manifest& manifest) {
  Encoder out;
  out.number32(kVersion);
  out.text(manifest.snapshot);
  out.text(manifest.company);
  out.text(manifest.workspace);
  out.number64(static_cast<std::uint64_t>(manifest.created_ms));
  out.number32(manifest.root_mode);
  out.digest(manifest.fingerprint);
  out.number32(static_cast<std::uint32_t>(manifest.entries.size()));
  for (const SavedEntry& saved : manifest.entries) put_entry(out, saved);
  out.number32(static_cast<std::uint32_t>(manifest.omissions.size()));
  for (const Omission& omission : manifest.omissions) {
    out.number8(static_cast<std::uint8_t>(omission.reason));
    out.text(omission.path);
  }
  out.number32(static_cast<std::uint32_t>(manifest.stripped_modes.size()));
  for (const std::string& path : manifest.stripped_modes) out.text(path);
  return std::move(out).take();
}

Result<Manifest> decode(std::string_view encoded) {
  Decoder in(encoded);
  if (const std::uint32_t version = in.number32(); version != kVersion && !in.failed()) {
    return Error(ErrorCode::kUnsupported, "a manifest of version " + std::to_string(version) +
                                              " needs a newer Cofferdam; this one reads version 1");
  }
  Manifest manifest;
  manifest.snapshot = in.text();
  manifest.company = in.text();
  manifest.workspace = in.text();
  manifest.created_ms = static_cast<std::int64_t>(in.number64());
  manifest.root_mode = in.number32();
  manifest.fingerprint = in.digest();
  manifest.entries.resize(in.count(kSmallestEntry));
  for (SavedEntry& saved : manifest.entries) {
    if (in.failed()) break;
    saved = get_entry(in);
  }
  get_omissions(in, manifest.omissions);
  manifest.stripped_modes.resize(in.count(kSmallestText));
  for (std::string& path : manifest.stripped_modes) path = in.text();
  if ((manifest.root_mode & ~0777U) != 0) in.fail();
  RETURN_IF_ERROR(in.finish("the manifest"));
  if (!order_is_sound(manifest.entries)) {
    return Error(ErrorCode::kDataLoss, "the manifest lists its entries in an order that no tree has");
  }
  if (workspace::fingerprint_of(plain_entries(manifest.entries)) != manifest.fingerprint) {
    return Error(ErrorCode::kDataLoss, "the manifest's entries do not have its fingerprint");
  }
  return manifest;
}

Result<std::string> seal_manifest(const Manifest& manifest, const crypto::SecretKey& key) {
  ASSIGN_OR_RETURN(const std::string compressed, compress(encode(manifest), kLevel));
  std::string out(kHead);
  crypto::seal_to(out, key, compressed, context_of(manifest.company, manifest.snapshot));
  return out;
}

Result<Manifest> open_manifest(std::string_view sealed, const crypto::SecretKey& key, const std::string& company,
                               const std::string& snapshot) {
  if (!sealed.starts_with(kHead)) return Error(ErrorCode::kDataLoss, "this is no manifest");
  ASSIGN_OR_RETURN(const std::string compressed,
                   crypto::open(key, sealed.substr(kHead.size()), context_of(company, snapshot)));
  ASSIGN_OR_RETURN(const std::string encoded, decompress(compressed, kLargestEncoding));
  ASSIGN_OR_RETURN(Manifest manifest, decode(encoded));
  if (manifest.snapshot != snapshot || manifest.company != company) {
    return Error(ErrorCode::kDataLoss, "the manifest belongs to another snapshot");
  }
  return manifest;
}

}  // namespace cofferdam::snapshot
