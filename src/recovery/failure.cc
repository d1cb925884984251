#include "recovery/failure.h"

#include <array>

namespace cofferdam::recovery {
namespace {

struct Description {
  Failure failure;
  std::string_view name;
  ErrorCode code;
  std::string_view hint;
};

constexpr std::string_view kByHand = "The sandbox keeps its files: take them out by hand, or mend this and repeat.";
constexpr std::string_view kRepeat = "End what still writes there, then repeat.";

constexpr std::array kDescriptions = {
    Description{Failure::kSandboxDiskFull, "remote_workspace_sandbox_disk_full", ErrorCode::kResourceExhausted,
                "Make room in the sandbox, or take the files out by hand; it keeps them."},
    Description{Failure::kSandboxQuota, "remote_workspace_sandbox_quota_exceeded", ErrorCode::kResourceExhausted,
                "Raise the quota in the sandbox or make room below it, then repeat."},
    Description{Failure::kSourceChanged, "workspace_capture_source_changed", ErrorCode::kFailedPrecondition, kRepeat},
    Description{Failure::kInventoryMismatch, "workspace_capture_inventory_mismatch", ErrorCode::kDataLoss,
                "The copy was thrown away and the sandbox keeps its files: repeat."},
    Description{Failure::kSourceUnreadable, "workspace_capture_source_unreadable", ErrorCode::kFailedPrecondition,
                kByHand},
    Description{Failure::kGitLayout, "workspace_capture_git_layout_unsupported", ErrorCode::kUnsupported, kByHand},
    Description{Failure::kGitConfig, "workspace_capture_git_config_unsupported", ErrorCode::kUnsupported,
                "Remove the setting in the sandbox (git config --unset NAME), then repeat."},
    Description{Failure::kGitUnverified, "workspace_capture_git_unverified", ErrorCode::kDataLoss,
                "git fsck in the sandbox says what is missing; the sandbox keeps its files."},
    Description{Failure::kSpecialMode, "workspace_capture_special_mode", ErrorCode::kUnsupported,
                "Remove the bit in the sandbox (chmod u-s,g-s,-t PATH), then repeat."},
    Description{Failure::kSpecialFile, "workspace_capture_special_file", ErrorCode::kUnsupported,
                "Remove it in the sandbox, then repeat."},
    Description{Failure::kLink, "workspace_capture_link_unconfined", ErrorCode::kUnsupported,
                "Remove the link in the sandbox or let it lead inside, then repeat."},
    Description{Failure::kBudget, "workspace_capture_budget_exceeded", ErrorCode::kResourceExhausted,
                "Leave out what is not needed (--exclude PATH), or take the files out by hand."},
    Description{Failure::kDeadline, "workspace_capture_deadline_exceeded", ErrorCode::kTimedOut,
                "Repeat when this machine has less to do, or leave out what is not needed (--exclude PATH)."},
    Description{Failure::kControllerDiskFull, "workspace_capture_controller_disk_full", ErrorCode::kResourceExhausted,
                "Make room on this machine, not in the sandbox, then repeat."},
    Description{Failure::kExportUnsupported, "workspace_capture_export_unsupported", ErrorCode::kUnsupported,
                "The sandbox needs sh, dd, GNU find and GNU tar."},
    Description{Failure::kDownload, "workspace_capture_download_failed", ErrorCode::kIo,
                "The partial copy was removed and the sandbox keeps its files: repeat."},
    Description{Failure::kWriterConflict, "workspace_capture_writer_conflict", ErrorCode::kFailedPrecondition,
                "Another save took over; see whether it is there: cofferdam snapshot list"},
    Description{Failure::kSeal, "workspace_capture_seal_failed", ErrorCode::kIo,
                "The sandbox keeps its files: mend the store, then repeat."},
};

const Description& description_of(Failure failure) {
  return kDescriptions.at(static_cast<std::size_t>(failure));
}

// The table is looked up by position.
static_assert([] {
  for (std::size_t i = 0; i < kDescriptions.size(); ++i) {
    if (static_cast<std::size_t>(kDescriptions[i].failure) != i) return false;
  }
  return kDescriptions.size() == static_cast<std::size_t>(Failure::kSeal) + 1;
}());

}  // namespace

std::string_view name_of(Failure failure) {
  return description_of(failure).name;
}

Error failure(Failure failure, const std::string& what) {
  const Description& known = description_of(failure);
  return Error(known.code, std::string(known.name) + ": " + what).with_hint(std::string(known.hint));
}

}  // namespace cofferdam::recovery
