#include "workspace/tar_format.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/strings.h"

namespace cofferdam::workspace {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::uint64_t kLargestOctal = 077777777777;  // what 11 digits hold
constexpr std::size_t kNameLength = 100;
constexpr std::size_t kPrefixLength = 155;
constexpr std::uint32_t kPermissions = 0777;

struct Field {
  std::size_t offset;
  std::size_t length;
};
constexpr Field kName{0, kNameLength};
constexpr Field kMode{100, 8};
constexpr Field kUser{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kLink{157, kNameLength};
constexpr Field kMagic{257, 8};
constexpr Field kPrefix{345, kPrefixLength};

using Block = std::array<char, kTarBlock>;

void put_text(Block& block, Field field, std::string_view text) {
  std::ranges::copy(text.substr(0, field.length), block.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

// Digits to the last but one place, then a NUL byte.
void put_octal(Block& block, Field field, std::uint64_t number) {
  for (std::size_t place = field.length - 1; place-- > 0; number >>= 3U) {
    block[field.offset + place] = static_cast<char>('0' + (number & 7U));
  }
}

// The sum of all bytes with the checksum's own taken for blanks.
std::uint32_t checksum_of(std::string_view block) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < kTarBlock; ++at) {
    const bool own = at >= kChecksum.offset && at < kChecksum.offset + kChecksum.length;
    sum += own ? ' ' : static_cast<unsigned char>(block[at]);
  }
  return sum;
}

// Where a path that is too long for one field can be cut at a slash; nothing when it cannot.
std::optional<std::size_t> cut_of(std::string_view path) {
  if (path.size() > kPrefixLength + 1 + kNameLength) return std::nullopt;
  const std::size_t cut = path.rfind('/', kPrefixLength);
  if (cut == std::string_view::npos || cut == 0 || path.size() - cut - 1 > kNameLength) return std::nullopt;
  if (cut + 1 == path.size()) return std::nullopt;
  return cut;
}

void put_path(Block& block, std::string_view path) {
  const auto cut = path.size() > kNameLength ? cut_of(path) : std::nullopt;
  if (!cut) return put_text(block, kName, path);
  put_text(block, kPrefix, path.substr(0, *cut));
  put_text(block, kName, path.substr(*cut + 1));
}

std::string finished(Block& block) {
  put_text(block, kMagic, std::string_view("ustar\00000", 8));
  put_octal(block, kUser, 0);
  put_octal(block, kGroup, 0);
  const std::uint32_t sum = checksum_of({block.data(), block.size()});
  put_octal(block, {kChecksum.offset, kChecksum.length - 1}, sum);
  block[kChecksum.offset + kChecksum.length - 1] = ' ';
  return {block.data(), block.size()};
}

// "<length> <key>=<value>\n", where the length counts its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest;
  while (length != rest + std::to_string(length).size()) length = rest + std::to_string(length).size();
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

// What says to other programs that names are bytes and not UTF-8 comes first. A name beyond ASCII is always declared
// so: who takes it for text may change it.
std::string pax_records(std::string_view path, const Entry& entry, std::int64_t seconds) {
  std::string records;
  const bool long_path = path.size() > kNameLength && !cut_of(path);
  const bool long_link = entry.target.size() > kNameLength;
  if ((long_path && !is_ascii(path)) || (long_link && !is_ascii(entry.target))) {
    records += pax_record("hdrcharset", "BINARY");
  }
  if (long_path) records += pax_record("path", path);
  if (long_link) records += pax_record("linkpath", entry.target);
  if (entry.size > kLargestOctal) records += pax_record("size", std::to_string(entry.size));
  if (seconds < 0 || static_cast<std::uint64_t>(seconds) > kLargestOctal) {
    records += pax_record("mtime", std::to_string(seconds));
  }
  return records;
}

std::string extended_header(const std::string& records) {
  Block block{};
  put_text(block, kName, "pax");
  put_octal(block, kMode, 0644);
  put_octal(block, kSize, records.size());
  put_octal(block, kTime, 0);
  block[kType.offset] = 'x';
  return finished(block) + records + std::string(tar_padding(records.size()), '\0');
}

char type_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::kDirectory:
      return '5';
    case EntryKind::kFile:
      return '0';
    case EntryKind::kSymlink:
      return '2';
  }
  return '0';
}

std::string_view part(std::string_view block, Field field) {
  return block.substr(field.offset, field.length);
}

// Up to the first NUL byte or the end of the field.
std::string text_in(std::string_view block, Field field) {
  const std::string_view text = part(block, field);
  return std::string(text.substr(0, text.find('\0')));
}

Error bad_number(const char* what) {
  return Error(ErrorCode::kDataLoss, std::string("a header of the archive has a bad ") + what);
}

// GNU's form of numbers that do not fit: the first bit set, the rest a big-endian number in two's complement.
Result<std::int64_t> binary_number(std::string_view field, const char* what) {
  const bool negative = (static_cast<unsigned char>(field.front()) & 0x40U) != 0;
  std::int64_t number = negative ? -1 : 0;
  for (std::size_t at = 0; at < field.size(); ++at) {
    const auto byte = static_cast<unsigned char>(at == 0 ? (field[at] & 0x7f) | (negative ? 0x80 : 0) : field[at]);
    const std::int64_t high = number >> 55;
    if (high != 0 && high != -1) return bad_number(what);
    number = static_cast<std::int64_t>((static_cast<std::uint64_t>(number) << 8U) | byte);
    if ((number < 0) != negative) return bad_number(what);
  }
  return number;
}

Result<std::int64_t> number_in(std::string_view block, Field where, const char* what) {
  std::string_view field = part(block, where);
  if ((static_cast<unsigned char>(field.front()) & 0x80U) != 0) return binary_number(field, what);
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  const std::size_t digits = std::min(field.find_first_not_of("01234567"), field.size());
  const std::string_view rest = field.substr(digits);
  if (rest.find_first_not_of(std::string_view(" \0", 2)) != std::string_view::npos) return bad_number(what);
  std::int64_t number = 0;
  for (const char digit : field.substr(0, digits)) number = number * 8 + (digit - '0');
  return number;
}

}  // namespace

std::string tar_header(const Entry& entry) {
  std::string path = entry.path;
  if (entry.kind == EntryKind::kDirectory) path += '/';
  std::int64_t seconds = entry.mtime_ns / kNanoseconds;
  if (entry.mtime_ns % kNanoseconds < 0) --seconds;
  const std::string records = pax_records(path, entry, seconds);
  Block block{};
  put_path(block, path);
  put_text(block, kLink, entry.target);
  put_octal(block, kMode, entry.mode & kPermissions);
  put_octal(block, kSize, entry.size > kLargestOctal ? 0 : entry.size);
  const bool has_time = seconds >= 0 && static_cast<std::uint64_t>(seconds) <= kLargestOctal;
  put_octal(block, kTime, has_time ? static_cast<std::uint64_t>(seconds) : 0);
  block[kType.offset] = type_of(entry.kind);
  return (records.empty() ? "" : extended_header(records)) + finished(block);
}

Result<std::optional<TarBlock>> decode_tar_block(std::string_view block) {
  if (block.size() != kTarBlock) return Error(ErrorCode::kInternal, "a tar header has 512 bytes");
  if (std::ranges::all_of(block, [](char byte) { return byte == 0; })) return std::optional<TarBlock>();
  ASSIGN_OR_RETURN(const std::int64_t sum, number_in(block, kChecksum, "checksum"));
  if (sum != checksum_of(block)) return Error(ErrorCode::kDataLoss, "a header of the archive has a wrong checksum");
  TarBlock decoded{.type = block[kType.offset], .name = text_in(block, kName), .link = text_in(block, kLink)};
  ASSIGN_OR_RETURN(const std::int64_t mode, number_in(block, kMode, "mode"));
  ASSIGN_OR_RETURN(const std::int64_t size, number_in(block, kSize, "size"));
  ASSIGN_OR_RETURN(decoded.mtime, number_in(block, kTime, "time"));
  if (size < 0) return bad_number("size");
  if (mode < 0) return bad_number("mode");
  decoded.mode = static_cast<std::uint32_t>(mode & 07777);
  decoded.size = static_cast<std::uint64_t>(size);
  // GNU's older magic "ustar  " has other things where the prefix would be.
  const std::string prefix =
      part(block, kMagic).starts_with(std::string_view("ustar\0", 6)) ? text_in(block, kPrefix) : "";
  if (!prefix.empty()) decoded.name = prefix + "/" + decoded.name;
  return std::optional(std::move(decoded));
}

Result<PaxRecords> decode_pax_records(std::string_view text) {
  PaxRecords records;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const auto length = parse_decimal(text.substr(0, std::min(space, std::size_t{10})));
    if (space == std::string_view::npos || space > 10 || !length || *length <= space + 1 || *length > text.size() ||
        text[*length - 1] != '\n') {
      return Error(ErrorCode::kDataLoss, "a pax header of the archive has a record of a bad length");
    }
    const std::string_view record = text.substr(space + 1, *length - space - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(ErrorCode::kDataLoss, "a pax header of the archive has a record without a key");
    }
    const auto [place, is_new] = records.emplace(record.substr(0, equals), record.substr(equals + 1));
    if (!is_new) {
      return Error(ErrorCode::kDataLoss, "a pax header of the archive says \"" + printable(place->first) + "\" twice");
    }
    text.remove_prefix(*length);
  }
  return records;
}

}  // namespace cofferdam::workspace
