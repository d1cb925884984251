// What the history of a workspace was when it was sent: the base of everything that comes home later.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/layout.h"

namespace cofferdam::git {

struct HistoryBase {
  ObjectFormat format = ObjectFormat::kSha1;
  Head head;
  std::vector<Ref> refs;                // in order of their names
  std::vector<std::string> alternates;  // object directories outside of what was sent that belong to it
  std::string directory;                // where it is recorded; holds the index, if there was one
};

// Records it in `directory`, which exists and is empty. To be called before the first command can run in the sandbox,
// with the layout of what was sent (or of the host's repository while nothing else writes it).
Status record_history_base(const Layout& sent, const std::string& directory);

Result<HistoryBase> read_history_base(const std::string& directory);

}  // namespace cofferdam::git
