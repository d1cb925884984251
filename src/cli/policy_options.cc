#include "cli/policy_options.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/adapter_options.h"
#include "cli/text_file.h"
#include "domain/path.h"
#include "domain/policy_file.h"
#include "domain/yaml_tree.h"

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

std::string home_of(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? "" : domain::normalized_absolute(entry->pw_dir).value_or("");
}

// HOME as shells see it; the password database only when it is missing, because asking it loads libraries.
// Started by root for somebody else's workspace the run is that person's, and so is the home.
std::string home_directory(const std::string& workspace) {
  struct stat status{};
  if (::geteuid() == 0 && ::stat(workspace.c_str(), &status) == 0 && status.st_uid != 0) return home_of(status.st_uid);
  if (const auto home = environment_variable("HOME")) {
    if (const auto path = domain::normalized_absolute(*home)) return *path;
  }
  return home_of(::geteuid());
}

Result<domain::Caller> this_caller(const Arguments& arguments) {
  domain::Caller caller;
  ASSIGN_OR_RETURN(caller.current_directory, current_directory());
  caller.home = home_directory(arguments.has("workspace") ? std::string(arguments.value("workspace")) : ".");
  caller.is_root = ::geteuid() == 0;
  caller.environment = environment_variable;
  return caller;
}

using Settings = std::expected<domain::PolicySettings, std::vector<Error>>;

Settings settings_of_flags(const Arguments& arguments, const domain::Caller& caller) {
  domain::PolicySettings settings;
  std::vector<Error> problems;
  for (const domain::SettingSpec& spec : domain::setting_specs()) {
    if (!spec.is_flag) continue;
    const domain::SettingSource source{"--" + std::string(spec.name), caller.current_directory, caller.home};
    for (const Arguments::Value& value : arguments.values) {
      if (value.option != spec.name) continue;
      if (Status status = domain::apply_flag(spec, settings, value.text, source); !status) {
        problems.push_back(std::move(status.error()));
      }
    }
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return settings;
}

// The file named by `option`, and its directory.
Result<std::string> file_of(const Arguments& arguments, std::string_view option, std::size_t largest) {
  const std::string path(arguments.value(option));
  return in_context(read_text_file(path, largest), "--" + std::string(option));
}

Settings settings_of_file(const Arguments& arguments, const domain::Caller& caller) {
  if (!arguments.has("policy")) return domain::PolicySettings{};
  const auto text = file_of(arguments, "policy", domain::kLargestYaml);
  if (!text) return std::unexpected(std::vector<Error>{text.error()});
  const std::string file(arguments.value("policy"));
  const std::string absolute = file.starts_with('/') ? file : domain::joined(caller.current_directory, file);
  const std::string directory = domain::parent_of(domain::normalized_absolute(absolute).value_or("/"));
  return domain::parse_policy_file(*text, {file, directory, caller.home});
}

}  // namespace

std::expected<domain::ResolvedPolicy, std::vector<Error>> policy_from_flags(const Arguments& arguments) {
  const auto failed = [](Error error) { return std::unexpected(std::vector<Error>{std::move(error)}); };
  const auto caller = this_caller(arguments);
  if (!caller) return failed(caller.error());
  const Settings flags = settings_of_flags(arguments, *caller);
  if (!flags) return std::unexpected(flags.error());
  const Settings file = settings_of_file(arguments, *caller);
  if (!file) return std::unexpected(file.error());
  if (!arguments.has("adapter-config")) {
    auto resolved = domain::resolve_policy(*file, *flags, *caller);
    if (!resolved) return failed(resolved.error());
    return std::move(*resolved);
  }
  const auto json = file_of(arguments, "adapter-config", domain::kLargestYaml);
  if (!json) return failed(json.error());
  auto resolved = policy_of_adapter(*json, domain::merged(*file, *flags), *caller);
  if (!resolved) return failed(resolved.error());
  return std::move(*resolved);
}

}  // namespace cofferdam::cli
