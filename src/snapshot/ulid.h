// Identifiers that sort by the time they were made.
#pragma once

#include <cstdint>
#include <string>

namespace cofferdam::snapshot {

// 26 lower-case characters (Crockford's base 32): 48 bits of milliseconds, 80 random bits. The specification is that of
// ULID, whose canonical form is upper case; object names here are lower case.
std::string new_ulid(std::int64_t now_ms);

}  // namespace cofferdam::snapshot
