// Files that a user names on the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace cofferdam::cli {

// The whole content of a regular file, or of a nameless pipe (/dev/stdin, `<(command)`); at most `largest` bytes.
// Anything else is an error and is not waited for.
Result<std::string> read_text_file(const std::string& path, std::size_t largest);

}  // namespace cofferdam::cli
