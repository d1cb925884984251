// "Did you mean …" for a word that is none of the known ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cofferdam::domain {

// The known word that `word` was most likely meant to be; empty when none is near. Case, `-` and `_` count little.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

// True when `word` differs from a known word only by case, separators or one or two letters.
bool is_near_miss(std::string_view word, std::span<const std::string_view> known);

// `did you mean "x"?`, or empty.
std::string suggestion_for(std::string_view word, std::span<const std::string_view> known);

}  // namespace cofferdam::domain
