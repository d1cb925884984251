// The readable start of a bundle file. Bundles come from sandboxes: every name in them is a claim.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/refs.h"

namespace cofferdam::git {

inline constexpr std::size_t kBundleHeaderBytes = std::size_t{4} << 20;

struct BundleHeader {
  ObjectFormat format = ObjectFormat::kSha1;
  std::vector<std::string> prerequisites;  // commits that the receiver must have
  std::vector<Ref> refs;
  std::size_t size = 0;  // bytes before the pack
};

// `start`: the first bytes of the file, kBundleHeaderBytes of them or all. kInvalidArgument for what is no bundle of
// version 2 or 3, asks for a capability other than an object format or behind its names, or names something that is no
// reference; kResourceExhausted when the header is longer than that or names more than `most_refs`.
Result<BundleHeader> parse_bundle_header(std::string_view start, std::size_t most_refs);

}  // namespace cofferdam::git
