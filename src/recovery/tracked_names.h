// What Git tracks of a workspace that is still in its sandbox, without starting git anywhere.
#pragma once

#include <vector>

#include "base/result.h"
#include "git/index_file.h"
#include "recovery/source.h"

namespace cofferdam::recovery {

// Empty when the workspace has no index. A failure kGitLayout for an index or configuration that cannot be read as
// data, kSourceChanged when it is not as long as `listing` says.
Result<std::vector<git::IndexName>> read_tracked_names(Source& source, const std::vector<SourceEntry>& listing);

}  // namespace cofferdam::recovery
