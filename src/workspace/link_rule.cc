#include "workspace/link_rule.h"

#include <algorithm>
#include <cstddef>

#include "base/strings.h"

namespace cofferdam::workspace {

bool link_stays_inside(std::string_view path, std::string_view target) {
  if (target.empty() || target.front() == '/') return false;
  auto depth = std::ranges::count(path, '/');
  for (const std::string_view piece : split(target, '/')) {
    if (piece.empty() || piece == ".") continue;
    depth += piece == ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

bool link_is_confined(std::string_view path, std::string_view target) {
  if (!link_stays_inside(path, target)) return false;
  bool named = false;
  for (const std::string_view piece : split(target, '/')) {
    if (piece.empty() || piece == ".") continue;
    if (piece == ".." && named) return false;
    named = named || piece != "..";
  }
  return true;
}

}  // namespace cofferdam::workspace
