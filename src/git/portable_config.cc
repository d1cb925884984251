#include "git/portable_config.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/ranges.h"
#include "base/strings.h"
#include "git/remote_url.h"

namespace cofferdam::git {
namespace {

using ValueRule = bool (*)(std::string_view);

bool is_truth(std::string_view value) {
  static constexpr std::array<std::string_view, 9> kTruths = {"true", "false", "yes", "no", "on", "off", "1", "0", ""};
  return contains(kTruths, ascii_lower(value));
}
bool is_falsehood(std::string_view value) {
  static constexpr std::array<std::string_view, 5> kFalsehoods = {"false", "no", "off", "0", ""};
  return contains(kFalsehoods, ascii_lower(value));
}
bool is_version(std::string_view value) {
  return value == "0" || value == "1";
}
bool is_object_format(std::string_view value) {
  return value == "sha1" || value == "sha256";
}
bool is_line_rule(std::string_view value) {
  static constexpr std::array<std::string_view, 5> kWords = {"input", "warn", "lf", "crlf", "native"};
  return is_truth(value) || contains(kWords, ascii_lower(value));
}
bool is_log_rule(std::string_view value) {
  return is_truth(value) || equals_ignoring_case(value, "always");
}
bool is_rebase_rule(std::string_view value) {
  static constexpr std::array<std::string_view, 3> kWords = {"merges", "interactive", "preserve"};
  return is_truth(value) || contains(kWords, ascii_lower(value));
}
bool is_plain_text(std::string_view value) {
  constexpr std::size_t kLongest = 1'024;
  return value.size() <= kLongest &&
         std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
}
bool is_remote_address(std::string_view value) {
  return portable_remote_url(value) == value;
}
// Of a remote or a branch; "." is this repository.
bool is_option_free(std::string_view value) {
  return is_plain_text(value) && !value.empty() && value.front() != '-';
}

struct Allowed {
  std::string_view section;
  bool has_subsection;
  std::string_view key;
  ValueRule accepts;
};

constexpr std::array kAllowed = {
    Allowed{"core", false, "repositoryformatversion", is_version},
    Allowed{"core", false, "filemode", is_truth},
    Allowed{"core", false, "bare", is_falsehood},
    Allowed{"core", false, "logallrefupdates", is_log_rule},
    Allowed{"core", false, "ignorecase", is_truth},
    Allowed{"core", false, "precomposeunicode", is_truth},
    Allowed{"core", false, "symlinks", is_truth},
    Allowed{"core", false, "autocrlf", is_line_rule},
    Allowed{"core", false, "eol", is_line_rule},
    Allowed{"core", false, "safecrlf", is_line_rule},
    Allowed{"extensions", false, "objectformat", is_object_format},
    Allowed{"user", false, "name", is_plain_text},
    Allowed{"user", false, "email", is_plain_text},
    Allowed{"remote", true, "url", is_remote_address},
    Allowed{"remote", true, "fetch", is_option_free},
    Allowed{"remote", true, "tagopt", is_plain_text},
    Allowed{"branch", true, "remote", is_option_free},
    Allowed{"branch", true, "merge", is_option_free},
    Allowed{"branch", true, "rebase", is_rebase_rule},
    Allowed{"pull", false, "rebase", is_rebase_rule},
    Allowed{"init", false, "defaultbranch", is_option_free},
};

struct KnownReason {
  std::string_view section;
  std::string_view key;  // empty: every key of the section
  std::string_view reason;
};

constexpr std::string_view kRuns = "can run a program";
constexpr std::string_view kReads = "names a file of this machine";

// Better words for what people meet; whatever is not here is refused all the same.
constexpr std::array kReasons = {
    KnownReason{"include", "", "reads another file as configuration"},
    KnownReason{"includeif", "", "reads another file as configuration"},
    KnownReason{"core", "worktree", "names a directory of this machine"},
    KnownReason{"core", "hookspath", kRuns},
    KnownReason{"core", "fsmonitor", kRuns},
    KnownReason{"core", "sshcommand", kRuns},
    KnownReason{"core", "gitproxy", kRuns},
    KnownReason{"core", "pager", kRuns},
    KnownReason{"core", "editor", kRuns},
    KnownReason{"core", "askpass", kRuns},
    KnownReason{"core", "alternaterefscommand", kRuns},
    KnownReason{"core", "excludesfile", kReads},
    KnownReason{"core", "attributesfile", kReads},
    KnownReason{"credential", "", "can run a program or hold a secret"},
    KnownReason{"filter", "", kRuns},
    KnownReason{"diff", "", kRuns},
    KnownReason{"difftool", "", kRuns},
    KnownReason{"merge", "", kRuns},
    KnownReason{"mergetool", "", kRuns},
    KnownReason{"alias", "", kRuns},
    KnownReason{"pager", "", kRuns},
    KnownReason{"gpg", "", kRuns},
    KnownReason{"uploadpack", "", kRuns},
    KnownReason{"url", "", "changes addresses"},
    KnownReason{"protocol", "", "allows transports"},
    KnownReason{"http", "", "can hold a secret or name a file"},
    KnownReason{"submodule", "", "names other repositories"},
    KnownReason{"extensions", "worktreeconfig", "reads another file as configuration"},
    KnownReason{"extensions", "partialclone", "fetches missing content from elsewhere"},
};

const Allowed* find_allowed(const ConfigSetting& setting) {
  const auto* found = std::ranges::find_if(kAllowed, [&](const Allowed& rule) {
    return rule.section == setting.section && rule.has_subsection == setting.has_subsection && rule.key == setting.key;
  });
  return found == kAllowed.end() ? nullptr : found;
}

std::string_view reason_of(const ConfigSetting& setting) {
  const auto* known = std::ranges::find_if(kReasons, [&](const KnownReason& reason) {
    return reason.section == setting.section && (reason.key.empty() || reason.key == setting.key);
  });
  return known == kReasons.end() ? "is not on the list of portable settings" : known->reason;
}

bool is_refspec(const ConfigSetting& setting) {
  return setting.section == "remote" && setting.key == "fetch";
}
bool is_remote_url(const ConfigSetting& setting) {
  return setting.section == "remote" && setting.has_subsection && setting.key == "url";
}

// Counts refspecs while a configuration is read from its start.
class RefspecCounter {
 public:
  explicit RefspecCounter(const RefspecBudget& budget) : budget_(budget) {}
  bool admits(const ConfigSetting& setting) {
    return !is_refspec(setting) || (setting.value.size() <= budget_.bytes && ++count_ <= budget_.count);
  }

 private:
  const RefspecBudget& budget_;
  std::size_t count_ = 0;
};

std::set<std::string> remotes_without_address(const std::vector<ConfigSetting>& settings) {
  std::set<std::string> out;
  for (const ConfigSetting& setting : settings) {
    if (is_remote_url(setting) && !portable_remote_url(setting.value)) out.insert(setting.subsection);
  }
  return out;
}

bool needs_remote(const ConfigSetting& setting, const std::set<std::string>& remotes) {
  if (setting.section == "remote") return remotes.contains(setting.subsection);
  return setting.section == "branch" && setting.key == "remote" && remotes.contains(setting.value);
}

}  // namespace

std::vector<ConfigRefusal> nonportable_settings(const std::vector<ConfigSetting>& settings,
                                                const RefspecBudget& budget) {
  std::vector<ConfigRefusal> out;
  RefspecCounter counter(budget);
  for (const ConfigSetting& setting : settings) {
    const auto refuse = [&](std::string_view reason) {
      out.push_back({.name = printable(setting.name()), .reason = std::string(reason)});
    };
    const Allowed* rule = find_allowed(setting);
    if (rule == nullptr) {
      refuse(reason_of(setting));
    } else if (!rule->accepts(setting.value)) {
      refuse(is_remote_url(setting) ? "is an address with credentials or of this machine"
                                    : "has a value that is not portable");
    } else if (!counter.admits(setting)) {
      refuse("is beyond the budget of refspecs");
    }
  }
  return out;
}

std::vector<ConfigSetting> portable_settings(const std::vector<ConfigSetting>& settings, const RefspecBudget& budget) {
  const std::set<std::string> dropped = remotes_without_address(settings);
  std::vector<ConfigSetting> out;
  RefspecCounter counter(budget);
  for (ConfigSetting setting : settings) {
    const Allowed* rule = find_allowed(setting);
    if (rule == nullptr || needs_remote(setting, dropped)) continue;
    if (is_remote_url(setting)) setting.value = *portable_remote_url(setting.value);
    if (rule->accepts(setting.value) && counter.admits(setting)) out.push_back(std::move(setting));
  }
  return out;
}

}  // namespace cofferdam::git
