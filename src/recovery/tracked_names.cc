#include "recovery/tracked_names.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/strings.h"
#include "git/config_file.h"
#include "recovery/failure.h"
#include "recovery/listing.h"

namespace cofferdam::recovery {
namespace {

constexpr std::uint64_t kIndexBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kConfigBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;

// Nothing when there is no such regular file.
Result<std::optional<std::string>> read_whole(Source& source, const std::vector<SourceEntry>& listing,
                                              const std::string& path, std::uint64_t limit) {
  const SourceEntry* const entry = find_source_entry(listing, path);
  if (entry == nullptr || entry->kind != SourceKind::kFile) return std::optional<std::string>();
  if (entry->size > limit) return failure(Failure::kBudget, path + " is longer than " + std::to_string(limit));
  std::string content;
  while (content.size() < entry->size) {
    const std::uint64_t length = std::min(kPiece, entry->size - content.size());
    ASSIGN_OR_RETURN(const std::string piece, source.read(path, content.size(), length));
    if (piece.size() != length) return failure(Failure::kSourceChanged, path + " is shorter than it was");
    content += piece;
  }
  return std::optional(std::move(content));
}

Result<git::ObjectFormat> object_format(Source& source, const std::vector<SourceEntry>& listing) {
  ASSIGN_OR_RETURN(const auto text, read_whole(source, listing, ".git/config", kConfigBytes));
  const auto settings = git::parse_config(text.value_or(""));
  if (!settings) return failure(Failure::kGitConfig, ".git/config: " + settings.error().message());
  const std::string* const name = git::config_value(*settings, "extensions", "objectformat");
  return name != nullptr && *name == "sha256" ? git::ObjectFormat::kSha256 : git::ObjectFormat::kSha1;
}

}  // namespace

Result<std::vector<git::IndexName>> read_tracked_names(Source& source, const std::vector<SourceEntry>& listing) {
  ASSIGN_OR_RETURN(const auto index, read_whole(source, listing, ".git/index", kIndexBytes));
  if (!index) return std::vector<git::IndexName>();
  ASSIGN_OR_RETURN(const git::ObjectFormat format, object_format(source, listing));
  auto names = git::parse_index(*index, format);
  if (!names) return failure(Failure::kGitLayout, ".git/index: " + names.error().message());
  return names;
}

}  // namespace cofferdam::recovery
