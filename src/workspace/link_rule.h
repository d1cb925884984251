// Where a symbolic link may lead, decided from its text alone.
#pragma once

#include <string_view>

namespace cofferdam::workspace {

// Whether the link at `path` (relative to the root) names a place at or below the root when every name in `target` is
// taken for a directory: not absolute, not empty, never more ".." than there are names before it.
bool link_stays_inside(std::string_view path, std::string_view target);

// The same, and ".." stands only at the beginning. A ".." after a name leaves whatever that name leads to, which may be
// another link: `s -> ..` and `t -> s/../x` are both inside by their text, and `t` is not.
bool link_is_confined(std::string_view path, std::string_view target);

}  // namespace cofferdam::workspace
