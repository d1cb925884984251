#include "recovery/listing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "recovery/failure.h"
#include "workspace/patterns.h"

namespace cofferdam::recovery {
namespace {

// NUL ends each: no other byte is safe in a name or a link's target.
constexpr const char* kFormat = R"(%P\0%y\0%m\0%s\0%T@\0%C@\0%D\0%i\0%n\0%l\0)";
constexpr std::size_t kFields = 10;
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr int kDecimal = 10;
constexpr int kOctal = 8;

template <class Number>
std::optional<Number> number(std::string_view text, int base = kDecimal) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1700000000.1234567890": find prints ten digits behind the point, the last of them always 0.
std::optional<std::int64_t> time_ns(std::string_view text) {
  constexpr std::size_t kDigits = 9;
  const std::size_t point = text.find('.');
  const auto seconds = number<std::int64_t>(text.substr(0, point));
  constexpr std::int64_t kFarthest = INT64_MAX / kNanosecondsPerSecond - 1;
  if (!seconds || *seconds > kFarthest || *seconds < -kFarthest) return std::nullopt;
  if (point == std::string_view::npos) return *seconds * kNanosecondsPerSecond;
  std::string fraction(text.substr(point + 1, kDigits));
  fraction.resize(kDigits, '0');
  const auto nanoseconds = number<std::int64_t>(fraction);
  if (!nanoseconds || *nanoseconds < 0) return std::nullopt;
  return *seconds * kNanosecondsPerSecond + *nanoseconds;
}

SourceKind kind_of(std::string_view letter) {
  if (letter == "d") return SourceKind::kDirectory;
  if (letter == "f") return SourceKind::kFile;
  if (letter == "l") return SourceKind::kSymlink;
  if (letter == "s") return SourceKind::kSocket;
  if (letter == "p") return SourceKind::kFifo;
  if (letter == "b" || letter == "c") return SourceKind::kDevice;
  return SourceKind::kUnknown;
}

std::optional<SourceEntry> entry_of(const std::array<std::string_view, kFields>& field) {
  const auto mode = number<std::uint32_t>(field[2], kOctal);
  const auto size = number<std::uint64_t>(field[3]);
  const auto mtime = time_ns(field[4]);
  const auto ctime = time_ns(field[5]);
  const auto device = number<std::uint64_t>(field[6]);
  const auto inode = number<std::uint64_t>(field[7]);
  const auto links = number<std::uint64_t>(field[8]);
  if (!mode || !size || !mtime || !ctime || !device || !inode || !links) return std::nullopt;
  return SourceEntry{.path = std::string(field[0]),
                     .kind = kind_of(field[1]),
                     .mode = *mode,
                     .size = *size,
                     .mtime_ns = *mtime,
                     .ctime_ns = *ctime,
                     .device = *device,
                     .inode = *inode,
                     .links = *links,
                     .target = std::string(field[9])};
}

bool is_path(std::string_view path) {
  return std::ranges::none_of(split(path, '/'),
                              [](std::string_view name) { return name.empty() || name == "." || name == ".."; });
}

Error unclear(const std::string& why) {
  return failure(Failure::kSourceUnreadable, "the list of the sandbox's files is unclear: " + why);
}

}  // namespace

std::vector<std::string> listing_command(const std::string& root, const workspace::PathSet& exclude) {
  // With "/." the root may be a link, and nothing else is followed.
  const std::string top = root + "/.";
  std::vector<std::string> command = {"find", top, "-xdev"};
  for (std::string& word : workspace::find_prune_arguments(top, exclude)) command.push_back(std::move(word));
  command.insert(command.end(), {"-printf", kFormat});
  return command;
}

Result<std::vector<SourceEntry>> parse_listing(std::string_view text) {
  std::vector<SourceEntry> entries;
  while (!text.empty()) {
    std::array<std::string_view, kFields> field;
    for (std::string_view& one : field) {
      const std::size_t end = text.find('\0');
      if (end == std::string_view::npos) return unclear("it is cut off");
      one = text.substr(0, end);
      text.remove_prefix(end + 1);
    }
    if (entries.size() >= kListedEntries) {
      return failure(Failure::kBudget, "the workspace has more than " + std::to_string(kListedEntries) + " entries");
    }
    auto entry = entry_of(field);
    if (!entry) return unclear("of " + printable(field[0]));
    if (!entry->path.empty() && !is_path(entry->path)) return unclear("the name " + printable(entry->path));
    entries.push_back(*std::move(entry));
  }
  std::ranges::sort(entries, {}, &SourceEntry::path);
  if (std::ranges::adjacent_find(entries, {}, &SourceEntry::path) != entries.end()) return unclear("a name came twice");
  if (entries.empty() || !entries.front().path.empty() || entries.front().kind != SourceKind::kDirectory) {
    return unclear("it is not of a directory");
  }
  return entries;
}

std::optional<std::string> first_change(const std::vector<SourceEntry>& before, const std::vector<SourceEntry>& after) {
  const SourceEntry& one = before.front();
  const SourceEntry& other = after.front();
  if (one.device != other.device || one.inode != other.inode || one.mode != other.mode) return "";
  const auto [left, right] = std::mismatch(before.begin() + 1, before.end(), after.begin() + 1, after.end());
  if (left == before.end() && right == after.end()) return std::nullopt;
  if (left == before.end()) return right->path;
  if (right == after.end()) return left->path;
  return std::min(left->path, right->path);
}

const SourceEntry* find_source_entry(const std::vector<SourceEntry>& entries, std::string_view path) {
  const auto found = std::ranges::lower_bound(entries, path, {},
                                              [](const SourceEntry& entry) { return std::string_view(entry.path); });
  return found != entries.end() && found->path == path ? &*found : nullptr;
}

}  // namespace cofferdam::recovery
