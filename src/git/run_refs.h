// Where the references of a run are kept on the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/outbound.h"

namespace cofferdam::git {

// Letters, digits, '-' and '_', at most 64 of them: it becomes a part of names.
Status check_run_name(std::string_view run);

// refs/paperclip/git-sync/imported/sandbox/<run>
std::string run_prefix(std::string_view run);

// A reference of the sandbox under its name of the run.
std::string run_ref(std::string_view run, std::string_view name);

// Everything of an export that is kept, under the names of the run and in their order: its references, HEAD unless it
// is the base's, and the content of the index. References that another one of them makes impossible are left out.
std::vector<Ref> run_refs(const ExportedHistory& exported);

}  // namespace cofferdam::git
