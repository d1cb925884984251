// A small, bounded view of a YAML text: maps, lists and scalars as text, with their lines. The only user of yaml-cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cofferdam::domain {

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };
  struct Member;

  Kind kind = Kind::kNull;
  int line = 0;                // from 1
  std::string text;            // kScalar: as written, without quotes; never guessed to be a number or truth value
  std::vector<YamlNode> list;  // kList
  std::vector<Member> map;     // kMap: in the order written, keys are unique
};

struct YamlNode::Member {
  std::string key;
  int line = 0;
  YamlNode value;
};

inline constexpr std::size_t kLargestYaml = std::size_t{1} << 20;  // bytes
inline constexpr std::size_t kMostYamlNodes = 20'000;
inline constexpr std::size_t kDeepestYaml = 16;

// One document. Refused: more than the bounds above, anchors, aliases, tags, keys that are not scalars, duplicate
// keys, a second document. Messages start with "<file>:<line>: ". An empty text is kNull.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file);

std::string_view to_string(YamlNode::Kind kind);  // "a list"

}  // namespace cofferdam::domain
