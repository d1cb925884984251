#include "workspace/archive_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "workspace/link_rule.h"

namespace cofferdam::workspace {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kLatestSecond = 9'000'000'000;  // in the year 2255
constexpr std::size_t kBuffer = std::size_t{128} << 10;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestTarget = 4'095;
constexpr std::size_t kLongestPaxHeader = std::size_t{1} << 20;
constexpr std::size_t kLongestGnuName = std::size_t{64} << 10;
// tar fills its last record: 10 KiB by default, at most what a blocking factor of 2,048 makes.
constexpr std::uint64_t kMostZerosAtEnd = std::uint64_t{1} << 20;
constexpr std::uint64_t kFreeOfRatio = std::uint64_t{64} << 20;
constexpr std::uint64_t kLargestOctal = 077777777777;
constexpr std::uint32_t kSpecialModes = 07000;
constexpr std::uint32_t kPermissions = 0777;

Error refused(std::string why) {
  return Error(ErrorCode::kPermissionDenied, "refusing " + std::move(why));
}
Error damaged(std::string why) {
  return Error(ErrorCode::kDataLoss, std::move(why));
}
Error beyond(const std::string& what, std::uint64_t bound) {
  return Error(ErrorCode::kResourceExhausted, "the archive has more than " + std::to_string(bound) + " " + what);
}

Error escapes(const std::string& name) {
  return refused("tarball member that escapes the extraction dir: " + printable(name));
}

Error link_escapes(const ArchiveMember& member) {
  return refused("tarball link whose target escapes the extraction dir: " + printable(member.path) + " -> " +
                 printable(member.target));
}

// Without "./" before it; a directory also without a slash after it.
std::string_view plain_path(std::string_view name, bool is_directory) {
  while (name.starts_with("./")) {
    name.remove_prefix(2);
    while (name.starts_with('/')) name.remove_prefix(1);
  }
  while (is_directory && name.ends_with('/') && name.size() > 1) name.remove_suffix(1);
  return name;
}

bool has_parent_reference(std::string_view path) {
  const auto pieces = split(path, '/');
  return std::ranges::find(pieces, std::string_view("..")) != pieces.end();
}

// One of the forms in which a directory names itself.
bool is_self(std::string_view name) {
  return name == "." || name == "./" || name.empty();
}

std::optional<MemberKind> kind_of(char type) {
  switch (type) {
    case '0':
    case '\0':
    case '7':
      return MemberKind::kFile;
    case '1':
      return MemberKind::kHardLink;
    case '2':
      return MemberKind::kSymlink;
    case '5':
      return MemberKind::kDirectory;
    default:
      return std::nullopt;
  }
}

const char* describe(char type) {
  switch (type) {
    case '3':
    case '4':
      return "a device";
    case '6':
      return "a FIFO";
    case 'S':
      return "a sparse file of GNU tar's own form";
    default:
      return "of a type that is not known";
  }
}

// A time beyond what nanoseconds can count becomes the last one that they can.
std::int64_t block_time(const TarBlock& block) {
  return std::clamp(block.mtime, -kLatestSecond, kLatestSecond) * kNanoseconds;
}

// "123.456" of a pax header, in nanoseconds.
std::optional<std::int64_t> pax_time(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto seconds = parse_decimal(text.substr(0, point));
  if (!seconds || *seconds > static_cast<std::uint64_t>(kLatestSecond)) return std::nullopt;
  std::string fraction(text.substr(std::min(point + 1, text.size())));
  fraction.resize(9, '0');
  const auto nanoseconds = parse_decimal(fraction);
  if (!nanoseconds) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(*seconds) * kNanoseconds + static_cast<std::int64_t>(*nanoseconds);
  return negative ? -whole : whole;
}

Status check_global(const PaxRecords& records) {
  for (const auto& [key, value] : records) {
    if (key != "comment") return refused("tarball with a global header that sets \"" + printable(key) + "\"");
  }
  return {};
}

// One size only: a header that gives two would mean different things to different programs.
Result<std::uint64_t> size_of(const TarBlock& block, std::optional<std::uint64_t> pax, const std::string& name) {
  if (!pax) return block.size;
  if (*pax <= kLargestOctal && block.size != *pax) {
    return refused("tarball member with two different sizes: " + printable(name));
  }
  return *pax;
}

}  // namespace

Status MemberRules::check_path(ArchiveMember& member) const {
  const std::string name = member.path;
  if (name.contains('\0')) return refused("tarball member with a NUL byte in its name: " + printable(name));
  if (name.starts_with('/') || has_parent_reference(name)) return escapes(name);
  member.path = plain_path(name, member.kind == MemberKind::kDirectory);
  if (member.path.empty() || member.path.starts_with('/')) return escapes(name);
  if (member.path.size() > rules_.bounds.path_bytes) return beyond("bytes in one name", rules_.bounds.path_bytes);
  const auto pieces = split(member.path, '/');
  if (pieces.size() > rules_.bounds.depth) return beyond("directories in each other", rules_.bounds.depth);
  for (const std::string_view piece : pieces) {
    if (piece.empty() || piece == ".") return refused("tarball member with an unclear name: " + printable(name));
    if (piece.size() > kLongestName) return beyond("bytes in one part of a name", kLongestName);
  }
  return {};
}

// Nothing twice, and nothing below what is no directory. Directories that the archive does not name are implied.
Status MemberRules::check_place(const ArchiveMember& member) {
  for (std::size_t slash = member.path.find('/'); slash != std::string::npos;
       slash = member.path.find('/', slash + 1)) {
    const auto [above, is_new] =
        known_.try_emplace(member.path.substr(0, slash), Known{MemberKind::kDirectory, true, 0});
    if (above->second.kind != MemberKind::kDirectory) {
      return refused("tarball member below something that is no directory: " + printable(member.path));
    }
    if (is_new) RETURN_IF_ERROR(count_entry());
  }
  const auto [own, is_new] = known_.try_emplace(member.path, Known{member.kind, false, member.size});
  if (is_new) {
    RETURN_IF_ERROR(count_entry());
    return count_bytes(member.size);
  }
  if (!own->second.implied || member.kind != MemberKind::kDirectory) {
    return refused("tarball member that occurs twice: " + printable(member.path));
  }
  own->second.implied = false;
  return {};
}

Status MemberRules::check_hard_link(ArchiveMember& member) {
  if (member.target.starts_with('/') || has_parent_reference(member.target)) return link_escapes(member);
  const std::string target(plain_path(member.target, false));
  const auto file = known_.find(target);
  if (file == known_.end() || file->second.kind != MemberKind::kFile) {
    return refused("tarball hard link to something that is no earlier file: " + printable(member.path) + " -> " +
                   printable(member.target));
  }
  member.target = target;
  member.size = file->second.size;
  // Later hard links may name this one.
  known_[member.path] = Known{MemberKind::kFile, false, member.size};
  return count_bytes(member.size);
}

Status MemberRules::check_symlink(ArchiveMember& member) const {
  if (member.target.empty() || member.target.contains('\0')) return link_escapes(member);
  if (member.target.size() > kLongestTarget) return beyond("bytes in the target of a link", kLongestTarget);
  member.confined = link_stays_inside(member.path, member.target);
  if (member.confined || rules_.unconfined_links == LinkPolicy::kRecord) return {};
  return link_escapes(member);
}

Status MemberRules::check_mode(ArchiveMember& member) const {
  // A link has no mode of its own; some programs write whatever they like.
  if (member.kind == MemberKind::kSymlink) member.mode = kPermissions;
  if ((member.mode & kSpecialModes) == 0) return {};
  if (!rules_.mask_special_modes) {
    return refused("tarball member with a set-user-id, set-group-id or sticky bit: " + printable(member.path));
  }
  member.mode &= kPermissions;
  member.had_special_mode = true;
  return {};
}

Status MemberRules::count_entry() {
  return ++entries_ > rules_.bounds.entries ? beyond("entries", rules_.bounds.entries) : Status();
}

Status MemberRules::count_bytes(std::uint64_t size) {
  if (size > rules_.bounds.file_bytes) return beyond("bytes in one file", rules_.bounds.file_bytes);
  if (size > rules_.bounds.bytes - bytes_) return beyond("bytes of content", rules_.bounds.bytes);
  bytes_ += size;
  return {};
}

Status MemberRules::admit(ArchiveMember& member) {
  RETURN_IF_ERROR(check_path(member));
  RETURN_IF_ERROR(check_mode(member));
  RETURN_IF_ERROR(check_place(member));
  if (member.kind == MemberKind::kHardLink) return check_hard_link(member);
  return member.kind == MemberKind::kSymlink ? check_symlink(member) : Status();
}

// What headers before a member say about it.
struct ArchiveReader::Extension {
  std::optional<std::string> path;
  std::optional<std::string> target;
  std::optional<std::uint64_t> size;
  std::optional<std::int64_t> mtime_ns;
  bool has_pax = false;
};

ArchiveReader::ArchiveReader(ByteSource source, const ArchiveRules& rules)
    : input_(std::move(source)), rules_(rules), members_(rules), buffer_(kBuffer, '\0') {}

Result<bool> ArchiveReader::read_all(char* buffer, std::size_t size) {
  std::size_t have = 0;
  while (have < size) {
    ASSIGN_OR_RETURN(const std::size_t count, input_.read(buffer + have, size - have));
    if (count == 0) break;
    have += count;
  }
  if (have == 0) return false;
  if (have < size) return damaged("the archive is cut off");
  return true;
}

Result<std::optional<TarBlock>> ArchiveReader::read_block() {
  std::array<char, kTarBlock> block;
  ASSIGN_OR_RETURN(const bool more, read_all(block.data(), block.size()));
  if (!more) return damaged("the archive has no end: it is cut off");
  return decode_tar_block({block.data(), block.size()});
}

Result<std::string> ArchiveReader::read_text(std::uint64_t size, std::size_t limit) {
  if (size > limit) return beyond("bytes in a header", limit);
  std::string text(static_cast<std::size_t>(size) + tar_padding(size), '\0');
  ASSIGN_OR_RETURN(const bool more, read_all(text.data(), text.size()));
  if (!more && size > 0) return damaged("the archive is cut off");
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Status ArchiveReader::extend(const TarBlock& block, Extension& extension) {
  if (block.type == 'L' || block.type == 'K') {
    ASSIGN_OR_RETURN(std::string text, read_text(block.size, kLongestGnuName));
    if (text.ends_with('\0')) text.pop_back();
    auto& which = block.type == 'L' ? extension.path : extension.target;
    if (which) return refused("tarball member that is named twice: " + printable(text));
    which = std::move(text);
    return {};
  }
  ASSIGN_OR_RETURN(const std::string text, read_text(block.size, kLongestPaxHeader));
  ASSIGN_OR_RETURN(const PaxRecords records, decode_pax_records(text));
  if (block.type == 'g') return check_global(records);
  if (extension.has_pax) return refused("tarball member with two extended headers");
  extension.has_pax = true;
  for (const auto& [key, value] : records) {
    if (key.starts_with("GNU.sparse.")) return refused("tarball with a sparse member: its content is not plain");
    if (key == "path" || key == "linkpath") {
      auto& which = key == "path" ? extension.path : extension.target;
      if (which) return refused("tarball member that is named twice: " + printable(value));
      which = value;
    } else if (key == "size") {
      extension.size = parse_decimal(value);
      if (!extension.size) return damaged("a pax header of the archive has a bad size");
    } else if (key == "mtime") {
      extension.mtime_ns = pax_time(value);
    }
  }
  return {};
}

Result<std::optional<ArchiveMember>> ArchiveReader::next() {
  if (ended_) return std::optional<ArchiveMember>();
  RETURN_IF_ERROR(skip_content());
  Extension extension;
  bool extended = false;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<TarBlock> block, read_block());
    if (!block) {
      if (extended) return damaged("the archive ends after a header that belongs to a member");
      RETURN_IF_ERROR(verify_end());
      return std::optional<ArchiveMember>();
    }
    if (block->type == 'x' || block->type == 'g' || block->type == 'L' || block->type == 'K') {
      RETURN_IF_ERROR(extend(*block, extension));
      extended = extended || block->type != 'g';
      continue;
    }
    ArchiveMember member{.path = extension.path.value_or(block->name),
                         .target = extension.target.value_or(block->link),
                         .mode = block->mode,
                         .mtime_ns = extension.mtime_ns.value_or(block_time(*block))};
    auto kind = kind_of(block->type);
    if (!kind)
      return refused(std::string("tarball member that is ") + describe(block->type) + ": " + printable(member.path));
    // The oldest form of tar marks a directory by its name.
    if (*kind == MemberKind::kFile && member.path.ends_with('/')) kind = MemberKind::kDirectory;
    member.kind = *kind;
    ASSIGN_OR_RETURN(member.size, size_of(*block, extension.size, member.path));
    if (member.kind != MemberKind::kFile && member.size != 0) {
      return refused("tarball member with content that it cannot have: " + printable(member.path));
    }
    any_member_ = true;
    extended = false;
    if (member.kind == MemberKind::kDirectory && is_self(plain_path(member.path, true))) {
      extension = {};
      continue;
    }
    left_ = member.size;
    padding_ = tar_padding(member.size);
    RETURN_IF_ERROR(members_.admit(member));
    return std::optional(std::move(member));
  }
}

Result<std::string_view> ArchiveReader::content() {
  if (left_ == 0) return std::string_view();
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size()));
  ASSIGN_OR_RETURN(const std::size_t count, input_.read(buffer_.data(), wanted));
  if (count == 0) return damaged("the archive is cut off within a file");
  left_ -= count;
  handed_out_ += count;
  RETURN_IF_ERROR(check_ratio());
  return std::string_view(buffer_.data(), count);
}

Status ArchiveReader::skip_content() {
  while (left_ > 0) {
    ASSIGN_OR_RETURN(const std::string_view skipped, content());
    (void)skipped;
  }
  return skip_padding();
}

Status ArchiveReader::skip_padding() {
  if (padding_ == 0) return {};
  ASSIGN_OR_RETURN(const bool more, read_all(buffer_.data(), std::exchange(padding_, 0)));
  return more ? Status() : damaged("the archive is cut off after a file");
}

// After the first block of zeros. A writer that had nothing to say may have left it at that one.
Status ArchiveReader::verify_end() {
  ended_ = true;
  std::array<char, kTarBlock> block;
  ASSIGN_OR_RETURN(const bool second, read_all(block.data(), block.size()));
  if (!second) return any_member_ ? damaged("the archive has half an end: it is cut off") : Status();
  for (std::uint64_t zeros = 0;;) {
    if (std::ranges::any_of(block, [](char byte) { return byte != 0; }))
      return damaged("something follows the end of the archive");
    if (zeros > kMostZerosAtEnd) return damaged("too much follows the end of the archive");
    ASSIGN_OR_RETURN(const std::size_t count, input_.read(block.data(), block.size()));
    if (count == 0) return {};
    zeros += count;
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(count), block.end(), '\0');
  }
}

Status ArchiveReader::check_ratio() const {
  if (!input_.is_compressed()) return {};
  if (handed_out_ <= kFreeOfRatio || handed_out_ / rules_.bounds.ratio <= input_.bytes_taken()) return {};
  return Error(ErrorCode::kResourceExhausted,
               "the archive decompresses to more than " + std::to_string(rules_.bounds.ratio) + " times its size");
}

}  // namespace cofferdam::workspace
