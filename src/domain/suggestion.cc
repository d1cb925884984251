#include "domain/suggestion.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace cofferdam::domain {
namespace {

constexpr std::size_t kShortestPrefix = 3;
constexpr std::size_t kLongestWord = 64;  // bounds the work that a hostile key can cause

// Lower case without the separators that people mix up.
std::string essence(std::string_view word) {
  std::string out = ascii_lower(word);
  std::erase_if(out, [](char c) { return c == '-' || c == '_'; });
  return out;
}

// Levenshtein distance: insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = essence(word);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::string near = essence(candidate);
    const bool begun = wanted.size() >= kShortestPrefix && near.starts_with(wanted);
    const std::size_t distance = begun ? 1 : edit_distance(wanted, near);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool is_near_miss(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t kFewLetters = 2;
  if (word.size() > kLongestWord) return false;
  const std::string wanted = essence(word);
  return std::ranges::any_of(
      known, [&](std::string_view each) { return edit_distance(wanted, essence(each)) <= kFewLetters; });
}

std::string suggestion_for(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_word(word, known);
  if (nearest.empty()) return {};
  return "did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace cofferdam::domain
