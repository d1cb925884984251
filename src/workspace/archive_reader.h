// Reads an archive from an untrusted side as a stream: one member after the other, each judged before its content is
// handed out, and the end verified. Nothing is written here; extract.h does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "workspace/byte_stream.h"
#include "workspace/tar_format.h"

namespace cofferdam::workspace {

// Upper bounds of one archive; beyond them reading fails with kResourceExhausted and names the bound.
struct ArchiveBounds {
  std::uint64_t entries = 5'000'000;
  std::uint64_t bytes = std::uint64_t{8} << 30;       // of all contents; hard links count once more
  std::uint64_t file_bytes = std::uint64_t{8} << 30;  // of one
  std::size_t depth = 1'000;                          // names in a path
  std::size_t path_bytes = 4'095;
  std::uint64_t ratio = 1'000;  // contents per byte of a compressed archive, beyond the first 64 MiB
};

enum class LinkPolicy : std::uint8_t {
  kRefuse,  // a link that leads out fails the archive
  kRecord,  // it is listed and not made: the host may have had it before
};

struct ArchiveRules {
  ArchiveBounds bounds;
  LinkPolicy unconfined_links = LinkPolicy::kRefuse;
  bool mask_special_modes = false;  // set-user-id, set-group-id, sticky: dropped and told; else they fail the archive
};

enum class MemberKind : std::uint8_t { kDirectory, kFile, kSymlink, kHardLink };

struct ArchiveMember {
  MemberKind kind = MemberKind::kFile;
  std::string path;    // as Entry::path
  std::string target;  // of a link; of a hard link the path of an earlier file
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool confined = true;           // false only for a link with LinkPolicy::kRecord
  bool had_special_mode = false;  // only with mask_special_modes
};

// What a member may be, in the light of those before it. Pure state, no I/O.
//
// Refused: names that are absolute, empty or hold ".." or "."; a name that occurred before; a name below anything but a
// directory, so that nothing is ever written through a link; links that leave the tree; hard links to anything but an
// earlier file; devices, FIFOs and types that are not known; special modes.
class MemberRules {
 public:
  explicit MemberRules(const ArchiveRules& rules) : rules_(rules) {}
  // Takes note of the member. `member.path` is checked and brought into the form of Entry::path.
  Status admit(ArchiveMember& member);

 private:
  struct Known {
    MemberKind kind;
    bool implied;  // a directory that no member named yet
    std::uint64_t size;
  };
  Status check_path(ArchiveMember& member) const;
  Status check_place(const ArchiveMember& member);
  Status check_hard_link(ArchiveMember& member);
  Status check_symlink(ArchiveMember& member) const;
  Status check_mode(ArchiveMember& member) const;
  Status count_entry();
  Status count_bytes(std::uint64_t size);

  const ArchiveRules& rules_;
  std::unordered_map<std::string, Known> known_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

// zstd is recognised by its first bytes. Not thread-safe.
class ArchiveReader {
 public:
  // `rules` must outlive the reader.
  ArchiveReader(ByteSource source, const ArchiveRules& rules);
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // The next member; what is left of the last one's content is skipped. Nothing at the end, after the end has been
  // verified: two blocks of zeros, then only zeros. kDataLoss for a damaged or truncated archive, kPermissionDenied for
  // a member that is refused, kResourceExhausted beyond a bound.
  Result<std::optional<ArchiveMember>> next();

  // The next piece of the member's content, in a buffer that lasts until the next call; empty at its end.
  Result<std::string_view> content();

 private:
  struct Extension;
  // False when nothing is left; kDataLoss when the archive ends within.
  Result<bool> read_all(char* buffer, std::size_t size);
  Result<std::optional<TarBlock>> read_block();
  Result<std::string> read_text(std::uint64_t size, std::size_t limit);
  Status extend(const TarBlock& block, Extension& extension);
  Status skip_content();
  Status skip_padding();
  Status verify_end();
  Status check_ratio() const;

  Decompressor input_;
  const ArchiveRules& rules_;
  MemberRules members_;
  std::string buffer_;
  std::uint64_t left_ = 0;        // of the member's content
  std::size_t padding_ = 0;       // after it
  std::uint64_t handed_out_ = 0;  // bytes of content
  bool any_member_ = false;
  bool ended_ = false;
};

}  // namespace cofferdam::workspace
