// What GNU find is asked for and how its answer is read. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recovery/source.h"

namespace cofferdam::recovery {

// Bounds of one listing, before anything is left out.
inline constexpr std::size_t kListingBytes = std::size_t{256} << 20;
inline constexpr std::size_t kListedEntries = 1'000'000;

// argv of a find that lists `root` (absolute) without `exclude`.
std::vector<std::string> listing_command(const std::string& root, const workspace::PathSet& exclude);

// Sorted by path; the first entry is the root. A failure kSourceUnreadable for anything that is no complete answer,
// kBudget beyond kListedEntries.
Result<std::vector<SourceEntry>> parse_listing(std::string_view text);

// The path of an entry that the two listings do not agree about; nothing when they are the same. Of the root only what
// it is counts: its times change with what is left out.
std::optional<std::string> first_change(const std::vector<SourceEntry>& before, const std::vector<SourceEntry>& after);

const SourceEntry* find_source_entry(const std::vector<SourceEntry>& entries, std::string_view path);

}  // namespace cofferdam::recovery
