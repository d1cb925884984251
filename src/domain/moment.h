// Moments as the decision log writes them, and as an operator writes them in flags.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cofferdam::domain {

using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

// "2026-12-03T05:08:26.123Z": UTC; such texts sort as the moments do.
std::string moment_text(Moment moment);

// A date, "2026-12-03", or one with a time, "2026-12-03T05:08", "…:26", "…:26.123"; UTC, with or without Z at the end.
// Nothing for anything else.
std::optional<Moment> parse_moment(std::string_view text);

}  // namespace cofferdam::domain
