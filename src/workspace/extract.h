// Unpacks an archive from an untrusted side into a fresh private directory. The caller publishes the directory when
// this succeeded, and removes it when it did not: nothing partial is ever visible, nothing lands outside.
#pragma once

#include "base/result.h"
#include "workspace/archive_reader.h"
#include "workspace/entry.h"
#include "workspace/fault.h"

namespace cofferdam::workspace {

struct ExtractOptions {
  ArchiveRules rules;
  bool keep_times = true;  // of files, in the archive's precision
  FaultPoint* faults = nullptr;
};

struct Extracted {
  // What the archive holds, hashed on the way. A link that was only recorded (LinkPolicy::kRecord) is among the entries
  // but not in the directory. A hard link is an entry of its own.
  Inventory inventory;
  std::vector<std::string> recorded_links;
  std::uint64_t bytes = 0;  // of file content
};

// `root` must be empty and nobody else's. Owners, access lists and extended attributes are never adopted; permission
// bits are set whatever the umask is, those of directories last. Nothing is synchronised to the disk. Errors as of
// ArchiveReader; kAlreadyExists when something was in the directory.
Result<Extracted> extract_archive(const ByteSource& source, int root, const ExtractOptions& options);

// The same without writing anything: what the archive holds, or why it is refused.
Result<Extracted> inspect_archive(const ByteSource& source, const ArchiveRules& rules);

}  // namespace cofferdam::workspace
