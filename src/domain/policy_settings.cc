#include "domain/policy_settings.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "domain/path.h"
#include "domain/profile.h"
#include "domain/quantity.h"

namespace cofferdam::domain {
namespace {

using Shape = SettingSpec::Shape;
using Place = SettingSpec::Place;
using Completion = SettingSpec::Completion;

std::string quoted(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

Error invalid(const SettingSource& source, const std::string& what) {
  return {ErrorCode::kInvalidArgument, source.where + ": " + what};
}

template <class T>
Status set_once(std::optional<Given<T>>& slot, T value, const SettingSource& source) {
  if (slot && slot->value != value) return invalid(source, "given twice with different values; keep one of them");
  slot = Given<T>{std::move(value), source.where};
  return {};
}

// Absolute and normalised; relative paths start at the source's directory, `~` is the home directory.
Result<std::string> absolute_path(std::string_view text, const SettingSource& source) {
  if (trimmed(text).empty()) return invalid(source, "an empty path");
  if (text.contains('\0')) return invalid(source, quoted(text) + " holds a NUL byte");
  std::string path(text);
  if (text == "~" || text.starts_with("~/")) {
    if (source.home.empty()) return invalid(source, quoted(text) + " needs a home directory and HOME is not set");
    path = source.home + std::string(text.substr(1));
  } else if (!text.starts_with('/')) {
    path = joined(source.base_directory, text);
  }
  const std::optional<std::string> normalised = normalized_absolute(path);
  if (!normalised) return invalid(source, quoted(text) + " is not a path");
  return *normalised;
}

// As absolute_path, but a relative one stays as it is: it is meant relative to the workspace, known only later.
Result<std::string> workspace_path(std::string_view text, const SettingSource& source) {
  if (text.starts_with('/') || text.starts_with('~')) return absolute_path(text, source);
  if (trimmed(text).empty()) return invalid(source, "an empty path");
  if (text.contains('\0')) return invalid(source, quoted(text) + " holds a NUL byte");
  return std::string(text);
}

template <auto Member>
Status apply_path(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  ASSIGN_OR_RETURN(std::string path, absolute_path(text, source));
  return set_once(settings.*Member, std::move(path), source);
}

template <Access access>
Status apply_grant(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  ASSIGN_OR_RETURN(std::string path, absolute_path(text, source));
  settings.grants.push_back({.path = std::move(path), .access = access, .origin = source.where});
  return {};
}

Status apply_restore(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  ASSIGN_OR_RETURN(std::string path, absolute_path(text, source));
  settings.restore.push_back({std::move(path), source.where});
  return {};
}

Status apply_protect(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  ASSIGN_OR_RETURN(std::string path, workspace_path(text, source));
  settings.protect.push_back({std::move(path), source.where});
  return {};
}

Status apply_alias(PolicySettings& settings, std::string_view path, std::string_view target,
                   const SettingSource& source) {
  if (!path.starts_with('/')) return invalid(source, quoted(path) + " must be an absolute path");
  PathAlias alias;
  ASSIGN_OR_RETURN(alias.path, absolute_path(path, source));
  ASSIGN_OR_RETURN(alias.target, workspace_path(target, source));
  settings.aliases.push_back({std::move(alias), source.where});
  return {};
}

Status apply_filesystem(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  if (text == "workspace") return set_once(settings.filesystem, FilesystemScope::kWorkspace, source);
  if (text == "host") return set_once(settings.filesystem, FilesystemScope::kHost, source);
  return invalid(source, quoted(text) + " is not one of workspace, host");
}

Status apply_network(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  if (text == "deny") return set_once(settings.network, NetworkScope::kDeny, source);
  if (text == "allowlist") return set_once(settings.network, NetworkScope::kAllowlist, source);
  if (text == "open") return set_once(settings.network, NetworkScope::kOpen, source);
  return invalid(source, quoted(text) + " is not one of deny, allowlist, open");
}

template <auto Member>
Status apply_rule(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  ASSIGN_OR_RETURN(NetworkRule rule, in_context(parse_network_rule(text), source.where));
  rule.origin = source.where;
  (settings.*Member).push_back({std::move(rule), source.where});
  return {};
}

Status apply_profile(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  RETURN_IF_ERROR(in_context(find_profile(text), source.where));
  settings.profiles.push_back({std::string(text), source.where});
  return {};
}

// Below these nothing starts at all, so they are mistakes: what bubblewrap and the first process need; the standard
// streams and one descriptor for loading the program.
constexpr std::uint64_t kLeastMemory = std::uint64_t{16} << 20;
constexpr std::uint64_t kLeastTmpfs = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastOpenFiles = 4;

Status at_least(std::uint64_t value, std::uint64_t least, const SettingSource& source, const std::string& shown_least) {
  if (value >= least) return {};
  return invalid(source, "nothing starts with less than " + shown_least);
}

template <auto Member, std::uint64_t Least = 1>
Status apply_size(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const auto size = parse_size(text);
  if (!size) return invalid(source, quoted(text) + " is not a size; write for example 512M or 2GiB");
  RETURN_IF_ERROR(at_least(*size, Least, source, std::to_string(Least >> 20) + "M"));
  return set_once(settings.*Member, *size, source);
}

template <auto Member, std::uint64_t Least = 1>
Status apply_count(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const auto count = parse_count(text);
  if (!count) return invalid(source, quoted(text) + " is not a whole number above zero");
  RETURN_IF_ERROR(at_least(*count, Least, source, std::to_string(Least)));
  return set_once(settings.*Member, *count, source);
}

Status apply_cpus(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const auto cpus = parse_cpus(text);
  if (!cpus) return invalid(source, quoted(text) + " is not a number of processors; write for example 2 or 0.5");
  return set_once(settings.cpus, *cpus, source);
}

template <auto Member>
Status apply_duration(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const auto duration = parse_duration(text);
  if (!duration) return invalid(source, quoted(text) + " is not a duration; write for example 90s, 10m or 1h30m");
  return set_once(settings.*Member, *duration, source);
}

template <auto Member>
Status apply_switch(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  if (text == "on" || text == "true") return set_once(settings.*Member, true, source);
  if (text == "off" || text == "false") return set_once(settings.*Member, false, source);
  return invalid(source, quoted(text) + " is not one of on, off");
}

template <auto Member>
Status apply_writable(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  if (text == "writable") return set_once(settings.*Member, true, source);
  if (text == "protected") return set_once(settings.*Member, false, source);
  return invalid(source, quoted(text) + " is not one of protected, writable");
}

Status apply_bubblewrap(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const std::string_view name = trimmed(text);
  if (name.empty()) return invalid(source, "an empty name");
  if (!name.contains('/')) return set_once(settings.bubblewrap, std::string(name), source);
  ASSIGN_OR_RETURN(std::string path, absolute_path(name, source));
  return set_once(settings.bubblewrap, std::move(path), source);
}

Status check_variable_name(std::string_view name, const SettingSource& source) {
  if (name.empty() || name.contains('=') || name.contains('\0')) {
    return invalid(source, quoted(name) + " is not the name of an environment variable");
  }
  return {};
}

Status pass_variable(PolicySettings& settings, std::string_view name, const SettingSource& source) {
  RETURN_IF_ERROR(check_variable_name(name, source));
  settings.variables.push_back({{std::string(name), std::nullopt}, source.where});
  return {};
}

Status set_variable(PolicySettings& settings, std::string_view name, std::string_view value,
                    const SettingSource& source) {
  RETURN_IF_ERROR(check_variable_name(name, source));
  // The value may be a secret: it is never part of a message.
  if (value.contains('\0')) return invalid(source, "the value of " + quoted(name) + " holds a NUL byte");
  settings.variables.push_back({{std::string(name), std::string(value)}, source.where});
  return {};
}

Status apply_env(PolicySettings& settings, std::string_view text, const SettingSource& source) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return pass_variable(settings, text, source);
  return set_variable(settings, text.substr(0, equals), text.substr(equals + 1), source);
}

constexpr std::string_view kFiles = "File system";
constexpr std::string_view kNetwork = "Network";
constexpr std::string_view kAgents = "Agents and environment";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kOther = "Other";

using S = PolicySettings;

constexpr std::array kSpecs = {
    SettingSpec{"workspace", Shape::kValue, Place::kTopLevel, true, "DIR", Completion::kDirectory, kFiles,
                "The directory the command works in and may write (default: the current directory).",
                apply_path<&S::workspace>, nullptr},
    SettingSpec{"cwd", Shape::kValue, Place::kFlagOnly, true, "DIR", Completion::kDirectory, kFiles,
                "Where the command starts (default: the current directory if it is in the workspace, else the "
                "workspace).",
                apply_path<&S::working_directory>, nullptr},
    SettingSpec{"filesystem", Shape::kValue, Place::kTopLevel, true, "workspace|host", Completion::kWords, kFiles,
                "What can be seen: workspace (default) only the workspace, the system's tools and what is granted; "
                "host all that you can see, with your rights.",
                apply_filesystem, nullptr},
    SettingSpec{"ro", Shape::kList, Place::kTopLevel, true, "PATH", Completion::kPath, kFiles,
                "Let the command read PATH. May be repeated.", apply_grant<Access::kReadOnly>, nullptr},
    SettingSpec{"rw", Shape::kList, Place::kTopLevel, true, "PATH", Completion::kPath, kFiles,
                "Let the command write PATH, in place. May be repeated.", apply_grant<Access::kReadWrite>, nullptr},
    SettingSpec{"restore", Shape::kList, Place::kTopLevel, true, "PATH", Completion::kPath, kFiles,
                "State that changes below PATH, outside the workspace, belong to the result. Needs --rw for it.",
                apply_restore, nullptr},
    SettingSpec{"protect", Shape::kList, Place::kTopLevel, true, "PATH", Completion::kPath, kFiles,
                "Make PATH in the workspace read-only; a relative PATH starts at the workspace.", apply_protect,
                nullptr},
    SettingSpec{"alias", Shape::kMap, Place::kTopLevel, true, "PATH=TARGET", Completion::kNone, kFiles,
                "Show the workspace's directory TARGET at the absolute PATH too.", nullptr, apply_alias},
    SettingSpec{"git-config", Shape::kValue, Place::kTopLevel, true, "protected|writable", Completion::kWords, kFiles,
                "Whether .git/config and .git/hooks may change (default: protected).",
                apply_writable<&S::git_config_writable>, nullptr},
    SettingSpec{"agent-settings", Shape::kValue, Place::kTopLevel, true, "protected|writable", Completion::kWords,
                kFiles, "Whether settings, hooks, MCP and instruction files of agents may change (default: protected).",
                apply_writable<&S::agent_settings_writable>, nullptr},
    SettingSpec{"allow-home", Shape::kSwitch, Place::kTopLevel, true, "", Completion::kNone, kFiles,
                "Accept the home directory itself as the workspace.", apply_switch<&S::allow_home>, nullptr},
    SettingSpec{"network", Shape::kValue, Place::kTopLevel, true, "deny|allowlist|open", Completion::kWords, kNetwork,
                "What can be reached: deny (default) nothing; allowlist what --allow names, through a recording proxy; "
                "open the host's network, unfiltered.",
                apply_network, nullptr},
    SettingSpec{"allow", Shape::kList, Place::kTopLevel, true, "RULE", Completion::kNone, kNetwork,
                "Allow a destination: HOST[:PORT], *.DOMAIN[:PORT], ADDRESS[:PORT] or CIDR[:PORT]. Means --network "
                "allowlist. May be repeated.",
                apply_rule<&S::allow>, nullptr},
    SettingSpec{"deny", Shape::kList, Place::kTopLevel, true, "RULE", Completion::kNone, kNetwork,
                "Refuse a destination even where --allow or a profile allows it. May be repeated.",
                apply_rule<&S::deny>, nullptr},
    SettingSpec{"profile", Shape::kList, Place::kTopLevel, true, "NAME", Completion::kProfile, kAgents,
                "What an agent needs: its hosts, environment keys and home directories. May be repeated.",
                apply_profile, nullptr},
    SettingSpec{"env", Shape::kList, Place::kFlagOnly, true, "NAME[=VALUE]", Completion::kNone, kAgents,
                "Set a variable, or with NAME alone pass yours on. May be repeated.", apply_env, nullptr},
    SettingSpec{"pass", Shape::kList, Place::kVariables, false, "NAME", Completion::kNone, kAgents,
                "Variables passed on from the caller.", pass_variable, nullptr},
    SettingSpec{"set", Shape::kMap, Place::kVariables, false, "NAME: VALUE", Completion::kNone, kAgents,
                "Variables set to a value.", nullptr, set_variable},
    SettingSpec{"home", Shape::kValue, Place::kTopLevel, true, "DIR", Completion::kDirectory, kAgents,
                "The home directory whose agent files the profiles use (default: yours).", apply_path<&S::home>,
                nullptr},
    SettingSpec{"nested", Shape::kValue, Place::kTopLevel, true, "on|off", Completion::kWords, kAgents,
                "Whether the command may make sandboxes of its own (default: off; on with --profile codex_local).",
                apply_switch<&S::nested>, nullptr},
    SettingSpec{"memory", Shape::kValue, Place::kLimits, true, "SIZE", Completion::kNone, kLimits,
                "Memory of all processes together, like 512M or 2GiB.", apply_size<&S::memory, kLeastMemory>, nullptr},
    SettingSpec{"pids", Shape::kValue, Place::kLimits, true, "N", Completion::kNone, kLimits,
                "Processes and threads at one time (a sane default holds).", apply_count<&S::pids>, nullptr},
    SettingSpec{"cpus", Shape::kValue, Place::kLimits, true, "N", Completion::kNone, kLimits,
                "Processors' worth of time, like 1.5.", apply_cpus, nullptr},
    SettingSpec{"open-files", Shape::kValue, Place::kLimits, true, "N", Completion::kNone, kLimits,
                "Open files of each process.", apply_count<&S::open_files, kLeastOpenFiles>, nullptr},
    SettingSpec{"file-size", Shape::kValue, Place::kLimits, true, "SIZE", Completion::kNone, kLimits,
                "Largest file a process may write.", apply_size<&S::file_size>, nullptr},
    SettingSpec{"tmpfs-size", Shape::kValue, Place::kLimits, true, "SIZE", Completion::kNone, kLimits,
                "Size of each private file system in memory, /tmp for one (a sane default holds).",
                apply_size<&S::tmpfs_size, kLeastTmpfs>, nullptr},
    SettingSpec{"timeout", Shape::kValue, Place::kLimits, true, "DURATION", Completion::kNone, kLimits,
                "End the command after this time, like 90s, 10m or 1h30m; the exit code is then 124.",
                apply_duration<&S::timeout>, nullptr},
    SettingSpec{"cpu-time", Shape::kValue, Place::kLimits, true, "DURATION", Completion::kNone, kLimits,
                "Processor time of each process.", apply_duration<&S::cpu_time>, nullptr},
    SettingSpec{"bubblewrap", Shape::kValue, Place::kTopLevel, true, "PROGRAM", Completion::kFile, kOther,
                "The bubblewrap program: an absolute path, or a name looked up in trusted directories (default: "
                "bwrap).",
                apply_bubblewrap, nullptr},
};

}  // namespace

std::span<const SettingSpec> setting_specs() {
  return kSpecs;
}

Status apply_flag(const SettingSpec& spec, PolicySettings& settings, std::string_view text,
                  const SettingSource& source) {
  if (spec.shape == Shape::kSwitch && text.empty()) return spec.apply(settings, "on", source);
  if (spec.shape != Shape::kMap) return spec.apply(settings, text, source);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return invalid(source, quoted(text) + " must be written " + std::string(spec.value_name));
  }
  return spec.apply_entry(settings, text.substr(0, equals), text.substr(equals + 1), source);
}

}  // namespace cofferdam::domain
