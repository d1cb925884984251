#include "workspace/entry.h"

#include <algorithm>

namespace cofferdam::workspace {

const char* to_string(OmissionReason reason) {
  switch (reason) {
    case OmissionReason::kExcluded:
      return "excluded";
    case OmissionReason::kDependencies:
      return "dependencies";
    case OmissionReason::kSocket:
      return "socket";
    case OmissionReason::kFifo:
      return "fifo";
    case OmissionReason::kDevice:
      return "device";
    case OmissionReason::kOtherFileSystem:
      return "other file system";
  }
  return "unknown";
}

const Entry* find_entry(const std::vector<Entry>& entries, const std::string& path) {
  const auto found = std::ranges::lower_bound(entries, path, {}, &Entry::path);
  return found != entries.end() && found->path == path ? &*found : nullptr;
}

}  // namespace cofferdam::workspace
