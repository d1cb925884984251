// From the layers of settings to one Policy: profile < policy file < flags. Pure: what it must know of the caller is
// handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/policy.h"
#include "domain/policy_settings.h"

namespace cofferdam::domain {

struct Caller {
  std::string current_directory;  // absolute
  std::string home;               // absolute; empty when unknown
  bool is_root = false;           // effective uid 0
  std::function<std::optional<std::string>(std::string_view name)> environment;
};

struct ResolvedPolicy {
  Policy policy;
  std::vector<std::string> notes;  // said once before the start: what was opened, what had no effect
};

// Every setting that contradicts another one is an error that names both and says what to do.
Result<ResolvedPolicy> resolve_policy(const PolicySettings& file, const PolicySettings& flags, const Caller& caller);

// Names of variables that every run may take from the caller's environment: language, terminal, time zone.
std::vector<std::string> default_pass_list();

// The parts of resolving that Paperclip's adapter keys share.
Limits limits_of(const PolicySettings& settings);
void put_variable(const VariableSetting& variable, Variables& variables);  // the last word on a name wins
void apply_variables(const PolicySettings& settings, Variables& variables);
PolicySettings merged(const PolicySettings& file, const PolicySettings& flags);
Status add_protected(const PolicySettings& settings, Policy& policy);  // policy.workspace must be set
// The whole host, and what the sandbox has of its own: no grant shows it, under any name.
bool is_never_granted(std::string_view path);
Status check_grants(const std::vector<PathGrant>& grants);
Status check_workspace(const std::string& workspace, const std::string& where, bool allow_home, const Caller& caller);

}  // namespace cofferdam::domain
