// What can keep a workspace from being saved out of its sandbox, with the names that programs compare.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cofferdam::recovery {

enum class Failure : std::uint8_t {
  kSandboxDiskFull,     // the write of helper or archive met ENOSPC in the sandbox; nothing else is called this
  kSandboxQuota,        // the same with EDQUOT
  kSourceChanged,       // the sandbox's files are not what they were
  kInventoryMismatch,   // the copy is not what the sandbox holds
  kSourceUnreadable,    // it cannot be said what the sandbox holds
  kGitLayout,           // a repository that does not stand alone, or disguises its own files
  kGitConfig,           // a setting that is not on the list
  kGitUnverified,       // git does not find the copied history whole
  kSpecialMode,         // set-user-id, set-group-id, sticky
  kSpecialFile,         // a FIFO or a device
  kLink,                // a link that leads out
  kBudget,              // a named bound
  kDeadline,            // verification and normalisation took too long
  kControllerDiskFull,  // no room on this side
  kExportUnsupported,   // the sandbox cannot list or stream its files
  kDownload,            // the stream broke or was refused
  kWriterConflict,      // another writer took the save over
  kSeal,                // the durable save failed
};

// "remote_workspace_sandbox_disk_full", "workspace_capture_source_changed", …
std::string_view name_of(Failure failure);

// An error "<name>: <what>", with what the user can do.
Error failure(Failure failure, const std::string& what);

}  // namespace cofferdam::recovery
