// A private copy of a tree on this machine, as alike as files can be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/entry.h"
#include "workspace/path_set.h"

namespace cofferdam::workspace {

struct CopyReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool reflinked = false;           // the file system shares the blocks: the copy took no space
  std::vector<Omission> omissions;  // sockets, FIFOs, devices, other file systems, what was excluded
};

// Copies everything below `source` into the empty directory `target`: content (by reflink where the file system can,
// else within the kernel), holes, permission bits, times, links as they are, hard links among the copied files, and,
// for a privileged caller, owners. Set-id and sticky bits are not copied. A file that changes while it is copied is
// copied again, three times, then kFailedPrecondition.
Result<CopyReport> copy_tree(int source, int target, const PathSet& exclude, unsigned threads = 0);

}  // namespace cofferdam::workspace
