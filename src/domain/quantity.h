// Numbers with units as an operator writes them in flags and files.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cofferdam::domain {

// Bytes: digits and a unit. K, M, G, T (also KB, KiB, lower case) are powers of 1024, as in Docker; no unit or B
// means bytes. Nothing for anything else, zero or more than 2^63-1.
std::optional<std::uint64_t> parse_size(std::string_view text);

// "90s", "10m", "1h30m", "500ms", "2d"; units in falling order, each at most once; a bare number is seconds.
// Nothing for anything else, zero or more than ten years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// A whole number above zero.
std::optional<std::uint64_t> parse_count(std::string_view text);

// Processors: "2", "0.5", "1.25"; at least 0.01 and at most 100000.
std::optional<double> parse_cpus(std::string_view text);

}  // namespace cofferdam::domain
