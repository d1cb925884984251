#include "workspace/baseline.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "base/strings.h"
#include "crypto/sha256.h"

namespace cofferdam::workspace {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr std::uint64_t kPermissions = 0777;
constexpr std::size_t kDeepest = 8;
constexpr std::array<std::string_view, 3> kKeys = {"version", "exclude", "entries"};
constexpr std::array<std::string_view, 8> kEntryKeys = {"path",   "pathHex", "kind",   "mode",
                                                        "sha256", "size",    "target", "targetHex"};

Error refused(std::string why) {
  return Error(ErrorCode::kDataLoss, "the record of what was sent cannot be read: " + std::move(why));
}

const char* kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::kDirectory:
      return "dir";
    case EntryKind::kFile:
      return "file";
    case EntryKind::kSymlink:
      return "symlink";
  }
  return "";
}

std::optional<EntryKind> kind_named(std::string_view name) {
  for (const EntryKind kind : {EntryKind::kDirectory, EntryKind::kFile, EntryKind::kSymlink}) {
    if (name == kind_name(kind)) return kind;
  }
  return std::nullopt;
}

// The parser is the judge of what its own text may hold.
bool is_utf8(std::string_view bytes) {
  json::error_code error;
  (void)json::parse(json::serialize(json::string(bytes)), error);
  return !error;
}

void put_bytes(json::object& object, const std::string& key, const std::string& bytes) {
  if (is_utf8(bytes)) {
    object[key] = bytes;
  } else {
    object[key + "Hex"] = to_hex(bytes);
  }
}

json::object to_object(const Entry& entry) {
  json::object object;
  put_bytes(object, "path", entry.path);
  object["kind"] = kind_name(entry.kind);
  if (entry.kind != EntryKind::kSymlink) object["mode"] = entry.mode;
  if (entry.kind == EntryKind::kFile) {
    object["sha256"] = entry.digest.hex();
    object["size"] = entry.size;
  }
  if (entry.kind == EntryKind::kSymlink) put_bytes(object, "target", entry.target);
  return object;
}

template <std::size_t Size>
Status check_keys(const json::object& object, const std::array<std::string_view, Size>& known) {
  for (const auto& member : object) {
    if (std::ranges::find(known, std::string_view(member.key())) == known.end()) {
      return refused("unknown key \"" + printable(std::string_view(member.key())) + "\"");
    }
  }
  return {};
}

std::optional<std::string> text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

std::optional<std::string> bytes_of(const json::object& object, const std::string& key) {
  const auto plain = text_of(object, key);
  const auto hex = text_of(object, key + "Hex");
  if (plain.has_value() == hex.has_value()) return std::nullopt;
  return plain ? plain : from_hex(*hex);
}

std::optional<std::uint64_t> number_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return std::nullopt;
  json::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

std::optional<Digest> digest_in(const json::object& object) {
  const auto text = text_of(object, "sha256");
  if (!text || text->size() != 2 * Digest::kSize) return std::nullopt;
  const auto raw = from_hex(*text);
  return raw ? Digest::from_bytes(*raw) : std::nullopt;
}

Result<Entry> parse_file(const json::object& object, Entry entry) {
  const auto digest = digest_in(object);
  const auto size = number_of(object, "size");
  if (!digest || !size) return refused("a bad digest or size of " + printable(entry.path));
  entry.digest = *digest;
  entry.size = *size;
  return entry;
}

Result<Entry> parse_entry(const json::value& value) {
  if (!value.is_object()) return refused("an entry is no object");
  const json::object& object = value.get_object();
  RETURN_IF_ERROR(check_keys(object, kEntryKeys));
  const auto path = bytes_of(object, "path");
  if (!path || !is_relative_path(*path)) return refused("the path \"" + printable(path.value_or("")) + "\"");
  const auto kind = kind_named(text_of(object, "kind").value_or(""));
  if (!kind) return refused("the kind of " + printable(*path));
  Entry entry{.path = *path, .kind = *kind, .mode = kPermissions};
  if (*kind == EntryKind::kSymlink) {
    const auto target = bytes_of(object, "target");
    if (!target) return refused("the target of " + printable(*path));
    entry.target = *target;
    return entry;
  }
  const auto mode = number_of(object, "mode");
  if (!mode || *mode > kPermissions) return refused("the mode of " + printable(*path));
  entry.mode = static_cast<std::uint32_t>(*mode);
  return *kind == EntryKind::kFile ? parse_file(object, std::move(entry)) : Result<Entry>(std::move(entry));
}

Result<std::vector<Entry>> parse_entries(const json::array& array) {
  std::vector<Entry> entries;
  entries.reserve(array.size());
  for (const json::value& value : array) {
    ASSIGN_OR_RETURN(Entry entry, parse_entry(value));
    if (!entries.empty() && !(entries.back().path < entry.path)) {
      return refused(printable(entry.path) + " occurs twice or out of order");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<std::string>> parse_exclude(const json::array& array) {
  std::vector<std::string> patterns;
  for (const json::value& value : array) {
    if (!value.is_string()) return refused("a pattern is no text");
    patterns.emplace_back(value.get_string());
  }
  return patterns;
}

const json::array* array_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_array() ? &value->get_array() : nullptr;
}

}  // namespace

std::string to_json(const Baseline& baseline) {
  json::object object;
  object["version"] = kVersion;
  object["exclude"] = json::array(baseline.exclude.begin(), baseline.exclude.end());
  json::array& entries = object["entries"].emplace_array();
  entries.reserve(baseline.entries.size());
  for (const Entry& entry : baseline.entries) entries.push_back(to_object(entry));
  return json::serialize(object);
}

Digest digest_of(const Baseline& baseline) {
  return crypto::sha256(to_json(baseline));
}

Result<Baseline> parse_baseline(std::string_view text) {
  if (text.size() > kLongestBaseline) return refused("it is too long");
  json::error_code error;
  const json::value value = json::parse(text, error, {}, {.max_depth = kDeepest});
  if (error) return refused("it is no JSON (" + error.message() + ")");
  if (!value.is_object()) return refused("it is no object");
  const json::object& object = value.get_object();
  const auto version = number_of(object, "version");
  if (version && *version != kVersion) {
    return Error(ErrorCode::kUnsupported,
                 "the record of what was sent has version " + std::to_string(*version) + "; this program reads 1");
  }
  RETURN_IF_ERROR(check_keys(object, kKeys));
  const json::array* exclude = array_in(object, "exclude");
  const json::array* entries = array_in(object, "entries");
  if (!version || exclude == nullptr || entries == nullptr) return refused("a part is missing");
  Baseline baseline;
  ASSIGN_OR_RETURN(baseline.exclude, parse_exclude(*exclude));
  ASSIGN_OR_RETURN(baseline.entries, parse_entries(*entries));
  return baseline;
}

bool is_relative_path(std::string_view path) {
  if (path.contains('\0')) return false;
  return std::ranges::none_of(split(path, '/'),
                              [](std::string_view name) { return name.empty() || name == "." || name == ".."; });
}

}  // namespace cofferdam::workspace
