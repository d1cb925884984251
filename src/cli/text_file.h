// Files that a user names on the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace cofferdam::cli {

// The whole content of a regular file, or of what a pipe like /dev/stdin gives; at most `largest` bytes.
Result<std::string> read_text_file(const std::string& path, std::size_t largest);

}  // namespace cofferdam::cli
