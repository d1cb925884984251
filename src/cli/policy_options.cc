#include "cli/policy_options.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "domain/path.h"

namespace cofferdam::cli {
namespace {

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> current_directory() {
  char* path = ::getcwd(nullptr, 0);
  if (path == nullptr) return Error::from_errno(errno, "the current directory");
  std::string out(path);
  std::free(path);
  return out;
}

// HOME as shells see it; the password database only when it is missing, because asking it loads libraries.
std::string home_directory() {
  if (const auto home = environment_variable("HOME")) {
    if (const auto path = domain::normalized_absolute(*home)) return *path;
  }
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr) return {};
  return domain::normalized_absolute(entry->pw_dir).value_or("");
}

Result<domain::Caller> this_caller() {
  domain::Caller caller;
  ASSIGN_OR_RETURN(caller.current_directory, current_directory());
  caller.home = home_directory();
  caller.is_root = ::geteuid() == 0;
  caller.environment = environment_variable;
  return caller;
}

Result<domain::PolicySettings> settings_of_flags(const Arguments& arguments, const domain::Caller& caller) {
  domain::PolicySettings settings;
  for (const domain::SettingSpec& spec : domain::setting_specs()) {
    if (!spec.is_flag) continue;
    const domain::SettingSource source{"--" + std::string(spec.name), caller.current_directory, caller.home};
    for (const Arguments::Value& value : arguments.values) {
      if (value.option != spec.name) continue;
      RETURN_IF_ERROR(domain::apply_flag(spec, settings, value.text, source));
    }
  }
  return settings;
}

}  // namespace

Result<domain::ResolvedPolicy> policy_from_flags(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const domain::Caller caller, this_caller());
  ASSIGN_OR_RETURN(const domain::PolicySettings flags, settings_of_flags(arguments, caller));
  return domain::resolve_policy({}, flags, caller);
}

}  // namespace cofferdam::cli
