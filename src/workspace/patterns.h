// What is left out of a transfer, with one meaning wherever it is applied, and how that is said to other programs.
//
// A rule is anchored at the root and literal, unless it was written as a pattern by a caller of the older interface.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workspace/path_set.h"

namespace cofferdam::workspace {

// Directories that dependencies, builds and caches fill.
inline constexpr std::array<std::string_view, 9> kHeavyDirectories = {
    "node_modules", "vendor", "dist", "build", "out", "coverage", ".next", ".turbo", ".cache"};

// Whether a name in `path` is one of them.
bool in_heavy_directory(std::string_view path);

// One list of exclusions.
//
// A literal rule covers its path and everything below. A pattern has the meaning that Paperclip's merge gives it:
//   X        the path X and everything below          X/*     everything below X
//   */X      any name X, at any depth                 */X/*   everything below any name X
//   other    with * ? [: as tar's --exclude: fnmatch(3) on the path, on every path above it and on each end of these
//   that
//            begins after a slash
class ExcludeRules {
 public:
  void add_literal(std::string path) { literals_.add(std::move(path)); }
  void add_pattern(std::string pattern) { patterns_.push_back(std::move(pattern)); }
  bool empty() const { return literals_.empty() && patterns_.empty(); }

  bool covers(std::string_view path) const;

  const PathSet& literals() const { return literals_; }
  const std::vector<std::string>& patterns() const { return patterns_; }

 private:
  PathSet literals_;
  std::vector<std::string> patterns_;
};

// The patterns that Paperclip sends for its heavy directories: X, X/*, */X and */X/* of each.
std::vector<std::string> heavy_directory_patterns();

// `text` such that fnmatch(3), tar and find take every byte for itself: \ before each of \ * ? [ ].
std::string glob_escaped(std::string_view text);

// Arguments of GNU tar that leave out `rules` from an archive whose members are named from the root, without "./". To
// be put before the names. Literal rules are anchored and escaped; patterns keep tar's unanchored meaning.
std::vector<std::string> tar_exclude_arguments(const ExcludeRules& rules);

// Arguments that prune the literal paths from `find <root> …`: ( -path <root>/a -o -path <root>/b ) -prune -o. Empty
// without paths. Escaped; `root` as it was given to find.
std::vector<std::string> find_prune_arguments(std::string_view root, const PathSet& literals);

}  // namespace cofferdam::workspace
