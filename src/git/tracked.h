// Whether Git tracks anything below a directory.
#pragma once

#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/layout.h"

namespace cofferdam::git {

// `path` is relative to the top of the working tree, literal. Asks a copy of the index; executes nothing of the
// repository.
Result<bool> tracks_below(GitProgram& git, const Layout& layout, const std::string& path, const std::string& scratch);

}  // namespace cofferdam::git
