// A set of literal paths, each standing for itself and everything below it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cofferdam::workspace {

// Literal and anchored at the root: "run.sock" never hides "sub/run.sock", and "*" is a name.
class PathSet {
 public:
  PathSet() = default;
  explicit PathSet(const std::vector<std::string>& paths) : paths_(paths.begin(), paths.end()) {}

  void add(std::string path) { paths_.insert(std::move(path)); }
  bool empty() const { return paths_.empty(); }

  // Whether `path` or a directory above it is in the set.
  bool covers(std::string_view path) const {
    if (paths_.empty()) return false;
    for (std::string_view rest = path;;) {
      if (paths_.contains(rest)) return true;
      const std::size_t slash = rest.rfind('/');
      if (slash == std::string_view::npos) return false;
      rest = rest.substr(0, slash);
    }
  }

  const std::set<std::string, std::less<>>& paths() const { return paths_; }

 private:
  std::set<std::string, std::less<>> paths_;
};

}  // namespace cofferdam::workspace
