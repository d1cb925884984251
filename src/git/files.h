// Small files of a Git directory, reached beneath its descriptor and never through a link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cofferdam::git {

// Nothing when it is absent. kFailedPrecondition when it is no regular file, kResourceExhausted beyond `limit` bytes.
Result<std::optional<std::string>> read_optional(int root, const std::string& path, std::size_t limit);

// Makes a file that must be new.
Status write_new(int root, const std::string& path, std::string_view content, unsigned mode = 0600);

// Copies a regular file to a new one of mode 0600; false when it is absent. The same errors as read_optional.
Result<bool> copy_optional(int from, const std::string& path, int to, const std::string& target, std::uint64_t limit);

// Everything from the present position of `from` on, written at the present position of `to`.
Status append_file(int from, int to);

}  // namespace cofferdam::git
