// What one surface (the flags, or a policy file) asked for, key by key, before layers are combined; and the one
// table of keys from which flags, file keys, help, man pages and completions are made.
//
// Naming rule: a key of the policy file is the flag's name without the dashes in front. Limits stand in the group
// `limits`, and `--env` is written as `variables: {pass: [..], set: {..}}`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/policy.h"

namespace cofferdam::domain {

// A value and who asked for it: "--ro" or "policy.yaml:3: ro". Conflicts name both sides.
template <class T>
struct Given {
  T value;
  std::string where;
};

struct VariableSetting {
  std::string name;
  std::optional<std::string> value;  // absent: passed from the caller's environment
};

struct PolicySettings {
  std::optional<Given<std::string>> workspace;
  std::optional<Given<std::string>> working_directory;
  std::optional<Given<std::string>> home;
  std::optional<Given<std::string>> bubblewrap;
  std::optional<Given<FilesystemScope>> filesystem;
  std::optional<Given<NetworkScope>> network;
  std::vector<PathGrant> grants;  // origin = where
  std::vector<Given<std::string>> restore;
  std::vector<Given<std::string>> protect;  // may be relative to the workspace
  std::vector<Given<PathAlias>> aliases;    // the target may be relative to the workspace
  std::vector<Given<NetworkRule>> allow;
  std::vector<Given<NetworkRule>> deny;
  std::vector<Given<std::string>> profiles;
  std::vector<Given<VariableSetting>> variables;  // in the order given
  std::optional<Given<std::uint64_t>> memory;
  std::optional<Given<std::uint64_t>> pids;
  std::optional<Given<double>> cpus;
  std::optional<Given<std::uint64_t>> open_files;
  std::optional<Given<std::uint64_t>> file_size;
  std::optional<Given<std::uint64_t>> tmpfs_size;
  std::optional<Given<std::chrono::milliseconds>> timeout;
  std::optional<Given<std::chrono::milliseconds>> cpu_time;
  std::optional<Given<bool>> allow_home;
  std::optional<Given<bool>> nested;
  std::optional<Given<bool>> git_config_writable;
  std::optional<Given<bool>> agent_settings_writable;
};

// Where a setting was written, and what relative paths and `~` in it mean. Both directories absolute.
struct SettingSource {
  std::string where;
  std::string base_directory;
  std::string home;  // empty: `~` is an error
};

// One key. `apply` reads the text and adds to the settings; its errors name the source. A kMap key has
// `apply_entry` instead.
struct SettingSpec {
  enum class Shape : std::uint8_t { kValue, kList, kMap, kSwitch };
  enum class Place : std::uint8_t { kTopLevel, kLimits, kVariables, kFlagOnly };
  enum class Completion : std::uint8_t { kNone, kDirectory, kPath, kFile, kWords, kProfile };

  std::string_view name;
  Shape shape;
  Place place;
  bool is_flag;
  std::string_view value_name;  // "DIR"; for kWords the words themselves, "deny|open"
  Completion completion;
  std::string_view section;  // heading in help and man pages
  std::string_view help;
  Status (*apply)(PolicySettings&, std::string_view text, const SettingSource&);
  Status (*apply_entry)(PolicySettings&, std::string_view key, std::string_view value, const SettingSource&);
};

std::span<const SettingSpec> setting_specs();

// The key as a flag writes it: a kMap value is split at its first '='.
Status apply_flag(const SettingSpec& spec, PolicySettings& settings, std::string_view text,
                  const SettingSource& source);

}  // namespace cofferdam::domain
