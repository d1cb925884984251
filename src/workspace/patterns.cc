#include "workspace/patterns.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/ranges.h"
#include "base/strings.h"

namespace cofferdam::workspace {
namespace {

constexpr std::string_view kSpecial = "\\*?[]";

bool has_glob(std::string_view text) {
  return text.find_first_of("*?[\\") != std::string_view::npos;
}

bool equals_or_is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && equals_or_is_below(path, directory);
}

bool has_name(std::string_view path, std::string_view name, bool only_above) {
  const std::vector<std::string_view> names = split(path, '/');
  const auto end = names.end() - (only_above ? 1 : 0);
  return std::find(names.begin(), end, name) != end;
}

// tar's meaning of an unanchored pattern: it fits the path or one above it, or the end of either after a slash; a "*"
// may cross slashes.
bool glob_fits(std::string_view path, const std::string& pattern) {
  for (std::string_view prefix = path;;) {
    for (std::string_view end = prefix;;) {
      if (::fnmatch(pattern.c_str(), std::string(end).c_str(), 0) == 0) return true;
      const std::size_t slash = end.find('/');
      if (slash == std::string_view::npos) break;
      end.remove_prefix(slash + 1);
    }
    const std::size_t slash = prefix.rfind('/');
    if (slash == std::string_view::npos) return false;
    prefix = prefix.substr(0, slash);
  }
}

bool pattern_covers(const std::string& pattern, std::string_view path) {
  std::string_view rest = pattern;
  const bool anywhere = rest.starts_with("*/");
  if (anywhere) rest.remove_prefix(2);
  const bool only_below = rest.ends_with("/*");
  if (only_below) rest.remove_suffix(2);
  if (rest.empty() || has_glob(rest)) return glob_fits(path, pattern);
  if (anywhere) return has_name(path, rest, only_below);
  return only_below ? is_below(path, rest) : equals_or_is_below(path, rest);
}

}  // namespace

bool in_heavy_directory(std::string_view path) {
  const std::vector<std::string_view> names = split(path, '/');
  return std::ranges::any_of(names, [](std::string_view name) { return contains(kHeavyDirectories, name); });
}

bool ExcludeRules::covers(std::string_view path) const {
  return literals_.covers(path) ||
         std::ranges::any_of(patterns_, [&](const std::string& pattern) { return pattern_covers(pattern, path); });
}

std::vector<std::string> heavy_directory_patterns() {
  std::vector<std::string> patterns;
  for (const std::string_view directory : kHeavyDirectories) {
    const std::string name(directory);
    patterns.insert(patterns.end(), {name, name + "/*", "*/" + name, "*/" + name + "/*"});
  }
  return patterns;
}

std::string glob_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (kSpecial.contains(letter)) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::vector<std::string> tar_exclude_arguments(const ExcludeRules& rules) {
  std::vector<std::string> arguments;
  if (!rules.literals().empty()) {
    arguments.insert(arguments.end(), {"--anchored", "--wildcards"});
    for (const std::string& path : rules.literals().paths()) arguments.push_back("--exclude=" + glob_escaped(path));
  }
  if (!rules.patterns().empty()) {
    arguments.insert(arguments.end(), {"--no-anchored", "--wildcards"});
    for (const std::string& pattern : rules.patterns()) arguments.push_back("--exclude=" + pattern);
  }
  return arguments;
}

std::vector<std::string> find_prune_arguments(std::string_view root, const PathSet& literals) {
  if (literals.empty()) return {};
  std::vector<std::string> arguments = {"("};
  for (const std::string& path : literals.paths()) {
    if (arguments.size() > 1) arguments.emplace_back("-o");
    arguments.insert(arguments.end(), {"-path", glob_escaped(std::string(root) + "/" + path)});
  }
  arguments.insert(arguments.end(), {")", "-prune", "-o"});
  return arguments;
}

}  // namespace cofferdam::workspace
