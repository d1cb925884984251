// The record of what was sent into a sandbox, as text that outlives the process.
//
// JSON: {"version":1,"exclude":[…],"entries":[{"path":…,"kind":"dir"|"file"|"symlink",…}]}, entries sorted by path.
// Files carry "mode" (a number, permission bits), "sha256" and "size"; directories "mode"; links "target". A name or
// target that is not UTF-8 is written as "pathHex" or "targetHex" instead. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "workspace/entry.h"

namespace cofferdam::workspace {

struct Baseline {
  std::vector<std::string> exclude;  // the patterns in force when it was taken
  std::vector<Entry> entries;        // sorted by path; times are not recorded
};

// Upper bound of the text that parse_baseline accepts, in bytes.
inline constexpr std::size_t kLongestBaseline = std::size_t{1} << 30;

std::string to_json(const Baseline& baseline);

// SHA-256 of the text.
Digest digest_of(const Baseline& baseline);

// kDataLoss for text that is no baseline; kUnsupported for another version. Refused in particular: absolute paths,
// empty names, "." and "..", a path that occurs twice or out of order, a digest that is not 64 hexadecimal digits, a
// mode beyond 0777, an unknown key.
Result<Baseline> parse_baseline(std::string_view json);

// Whether `path` is what Entry::path promises: not empty, no empty name, no "." or "..", no NUL byte.
bool is_relative_path(std::string_view path);

}  // namespace cofferdam::workspace
