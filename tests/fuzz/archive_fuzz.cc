// The reader of archives and what it lets land: whatever the bytes are, nothing comes to be outside the fresh
// directory, and what is listed is what is there.
//
// links: cofferdam_workspace
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "system/tree.h"
#include "workspace/extract.h"

using namespace cofferdam;
using namespace cofferdam::workspace;

namespace {

ExtractOptions bounded(bool lax) {
  ExtractOptions options;
  options.rules.bounds = {.entries = 64, .bytes = 1 << 20, .file_bytes = 1 << 20, .depth = 16, .path_bytes = 512};
  options.rules.mask_special_modes = lax;
  options.rules.unconfined_links = lax ? LinkPolicy::kRecord : LinkPolicy::kRefuse;
  return options;
}

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_recorded(const Extracted& extracted, const std::string& path) {
  for (const std::string& link : extracted.recorded_links) {
    if (link == path) return true;
  }
  return false;
}

void check_listed(int root, const Extracted& extracted) {
  for (const Entry& entry : extracted.inventory.entries) {
    const auto status = system::status_beneath(root, entry.path);
    if (is_recorded(extracted, entry.path)) {
      check(!status);
      continue;
    }
    check(status.has_value());
    check(S_ISDIR(status->st_mode) == (entry.kind == EntryKind::kDirectory));
    check(S_ISLNK(status->st_mode) == (entry.kind == EntryKind::kSymlink));
    if (entry.kind == EntryKind::kSymlink) continue;
    check((status->st_mode & 07777) == entry.mode);
    if (entry.kind == EntryKind::kFile) check(static_cast<std::uint64_t>(status->st_size) == entry.size);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);

// With a wrong checksum no header is ever looked at: they are mended after every change.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room, unsigned) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, room);
  for (std::size_t at = 1; at + kTarBlock <= changed; at += kTarBlock) {
    std::uint8_t* const block = data + at;
    if (std::memcmp(block + 257, "ustar", 5) != 0) continue;
    std::memset(block + 148, ' ', 8);
    unsigned sum = 0;
    for (std::size_t byte = 0; byte < kTarBlock; ++byte) sum += block[byte];
    char text[16];
    std::snprintf(text, sizeof text, "%06o", sum);
    std::memcpy(block + 148, text, 7);
  }
  return changed;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const std::string parent = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  const auto outer = system::TemporaryDirectory::create(parent, "archive-fuzz-");
  if (!outer || ::mkdirat(outer->fd(), "in", 0700) != 0) std::abort();
  const auto root = system::open_beneath(outer->fd(), "in", 0);
  if (!root) std::abort();
  const ExtractOptions options = bounded((data[0] & 1) != 0);
  const std::string_view archive(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto extracted = extract_archive(source_of(archive), root->get(), options);
  const auto inspected = inspect_archive(source_of(archive), options.rules);
  check(extracted.has_value() == inspected.has_value());
  check(system::names_in(outer->fd())->size() == 1);
  if (extracted && ::geteuid() == 0) check_listed(root->get(), *extracted);
  return 0;
}
