#include "recovery/git_check.h"

#include <algorithm>

#include "base/strings.h"
#include "git/files.h"
#include "git/layout.h"
#include "git/portable_config.h"
#include "git/repository_view.h"
#include "recovery/failure.h"
#include "system/tree.h"

namespace cofferdam::recovery {
namespace {

constexpr const char* kConfig = ".git/config";

bool is_refspec(const git::ConfigSetting& setting) {
  return setting.section == "remote" && setting.key == "fetch";
}

std::string working_tree(const std::string& tree, const std::string& repository) {
  return repository.empty() ? tree : tree + "/" + repository;
}

// "sub/.git/config", as the user knows it.
std::string name_of_config(const std::string& repository) {
  return printable(repository.empty() ? kConfig : repository + "/" + kConfig);
}

Status check_config_of(const std::string& tree, const std::string& repository, const CaptureLimits& limits) {
  const std::string where = name_of_config(repository);
  ASSIGN_OR_RETURN(const UniqueFd root, system::open_directory(working_tree(tree, repository)));
  auto text = git::read_optional(root.get(), kConfig, limits.config_bytes);
  if (!text && text.error().code() == ErrorCode::kResourceExhausted) {
    return failure(Failure::kBudget, where + " is longer than " + std::to_string(limits.config_bytes) + " bytes");
  }
  if (!text) return failure(Failure::kGitLayout, where + ": " + text.error().message());
  if (!*text) return {};
  auto settings = git::parse_config(**text, {.bytes = limits.config_bytes, .settings = limits.settings});
  if (settings) return check_config(*settings, limits, where);
  const bool beyond = settings.error().code() == ErrorCode::kResourceExhausted;
  return failure(beyond ? Failure::kBudget : Failure::kGitConfig, where + ": " + settings.error().message());
}

// References, HEAD and index name objects; git must find them all, and what these name.
Status prove_whole(const std::string& tree, const std::string& repository, git::GitProgram& git,
                   const std::string& scratch, const SharedDeadline& deadline) {
  const std::string place = working_tree(tree, repository);
  const std::string where = printable(repository.empty() ? "the workspace" : repository);
  RETURN_IF_ERROR(deadline.check());
  const auto layout = git::read_layout(place, {.origin = git::Origin::kSandbox, .allowed_alternates = {}});
  if (!layout) return failure(Failure::kGitLayout, where + ": " + layout.error().message());
  // git takes an empty `.git` for nothing, too.
  if (layout->kind != git::Layout::Kind::kStandalone) return {};
  if (const Status store = git::check_object_store(*layout); !store) {
    return failure(Failure::kGitLayout, where + ": " + store.error().message());
  }
  RETURN_IF_ERROR(deadline.check());
  ASSIGN_OR_RETURN(const git::RepositoryView view, git::RepositoryView::copy_of(*layout, scratch));
  ASSIGN_OR_RETURN(const git::GitOutput output,
                   git.run(view.command({"fsck", "--connectivity-only", "--no-dangling", "--no-progress"})));
  if (output.exit_code == 0) return {};
  return failure(Failure::kGitUnverified, "the history of " + where +
                                              " is not whole: " + printable(trimmed(output.standard_error)) +
                                              printable(trimmed(output.standard_output)));
}

}  // namespace

Status check_config(const std::vector<git::ConfigSetting>& settings, const CaptureLimits& limits,
                    const std::string& where) {
  if (settings.size() > limits.settings) {
    return failure(Failure::kBudget, where + " has more than " + std::to_string(limits.settings) + " settings");
  }
  const auto refspecs = static_cast<std::size_t>(std::ranges::count_if(settings, is_refspec));
  const bool has_long = std::ranges::any_of(settings, [&](const git::ConfigSetting& setting) {
    return is_refspec(setting) && setting.value.size() > limits.refspec_bytes;
  });
  if (refspecs > limits.refspecs || has_long) {
    return failure(Failure::kBudget, where + " has more than " + std::to_string(limits.refspecs) +
                                         " refspecs, or one longer than " + std::to_string(limits.refspec_bytes) +
                                         " bytes");
  }
  const auto refused = git::nonportable_settings(settings, {.count = limits.refspecs, .bytes = limits.refspec_bytes});
  if (refused.empty()) return {};
  return failure(Failure::kGitConfig, where + ": " + refused.front().name + " " + refused.front().reason);
}

Status check_repositories(const std::string& tree, const std::vector<std::string>& repositories, git::GitProgram& git,
                          const std::string& scratch, const CaptureLimits& limits, const SharedDeadline& deadline) {
  for (const std::string& repository : repositories) {
    RETURN_IF_ERROR(deadline.check());
    RETURN_IF_ERROR(check_config_of(tree, repository, limits));
  }
  DeadlineGit bounded(git, deadline);
  for (const std::string& repository : repositories) {
    RETURN_IF_ERROR(prove_whole(tree, repository, bounded, scratch, deadline));
  }
  return {};
}

}  // namespace cofferdam::recovery
