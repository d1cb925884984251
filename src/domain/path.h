// Lexical rules for absolute paths. No file system access: what a path names is decided elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cofferdam::domain {

// `path` without `.`, `..`, doubled or trailing slashes; white space counts, since a name may hold any. Nothing when it
// is empty, relative or holds a NUL byte.
std::optional<std::string> normalized_absolute(std::string_view path);

// True when `path` equals `directory` or lies below it. Both normalised; compared by whole components, so
// /a/..b is inside /a and /ab is not.
bool is_inside(std::string_view path, std::string_view directory);

// Components of a normalised path; none for "/".
std::vector<std::string_view> components(std::string_view path);

// Directory part of a normalised path; "/" for "/" itself.
std::string parent_of(std::string_view path);

// Last component; empty for "/".
std::string_view name_of(std::string_view path);

// `directory` + "/" + `relative`, without doubling the slash of "/".
std::string joined(std::string_view directory, std::string_view relative);

}  // namespace cofferdam::domain
