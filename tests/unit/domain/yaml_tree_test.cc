#include "domain/yaml_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace cofferdam::domain {
namespace {

std::string error_of(const std::string& text) {
  const auto tree = parse_yaml(text, "f.yaml");
  return tree ? "" : tree.error().to_string();
}

TEST(YamlTreeTest, KeepsTextAndLines) {
  const auto tree = parse_yaml("a: on\nb:\n  - '1'\n  - 0x10\nc: {d: ~}\n", "f.yaml");
  ASSERT_TRUE(tree) << tree.error().to_string();
  ASSERT_EQ(tree->map.size(), 3U);
  EXPECT_EQ(tree->map[0].value.text, "on");
  EXPECT_EQ(tree->map[1].value.list[0].text, "1");
  EXPECT_EQ(tree->map[1].value.list[1].text, "0x10");
  EXPECT_EQ(tree->map[1].value.list[1].line, 4);
  EXPECT_EQ(tree->map[2].line, 5);
  EXPECT_EQ(tree->map[2].value.map[0].value.kind, YamlNode::Kind::kNull);
}

TEST(YamlTreeTest, EmptyTextIsNull) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
    const auto tree = parse_yaml(text, "f.yaml");
    ASSERT_TRUE(tree) << text << tree.error().to_string();
    EXPECT_EQ(tree->kind, YamlNode::Kind::kNull) << text;
  }
}

TEST(YamlTreeTest, RefusesWhatHidesMeaning) {
  EXPECT_EQ(error_of("a: &x [*x]\n"), "f.yaml:1: anchors (&name) are not accepted");
  EXPECT_EQ(error_of("a: 1\nb: &x 2\n"), "f.yaml:2: anchors (&name) are not accepted");
  EXPECT_EQ(error_of("a: !!binary aGk=\n"), "f.yaml:1: tags (tag:yaml.org,2002:binary) are not accepted");
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "f.yaml:3: the key \"a\" stands twice (also in line 1)");
  EXPECT_EQ(error_of("a: {b: 1, b: 2}\n"), "f.yaml:1: the key \"b\" stands twice (also in line 1)");
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"), "f.yaml:2: a second document; a policy is one");
  EXPECT_EQ(error_of("? [1]\n: 2\n"), "f.yaml:1: a key must be a plain text");
  EXPECT_EQ(error_of("? {a: 1}\n: 2\n"), "f.yaml:1: a key must be a plain text");
  EXPECT_EQ(error_of("~: 2\n"), "f.yaml:1: a key must be a plain text");
}

TEST(YamlTreeTest, SyntaxErrorsNameTheLine) {
  EXPECT_TRUE(error_of("a: 1\nb: [\n").starts_with("f.yaml:3: ")) << error_of("a: 1\nb: [\n");
  EXPECT_TRUE(error_of("a: *x\n").starts_with("f.yaml:1: ")) << error_of("a: *x\n");
  EXPECT_TRUE(error_of("a: 1\n\tb: 2\n").starts_with("f.yaml:")) << error_of("a: 1\n\tb: 2\n");
}

TEST(YamlTreeTest, BoundsHoldAtTheirEdge) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(error_of(nested(kDeepestYaml)), "");
  EXPECT_EQ(error_of(nested(kDeepestYaml + 1)), "f.yaml:1: nested deeper than 16 levels");
  EXPECT_EQ(error_of(nested(10'000)), "f.yaml:1: nested deeper than 16 levels");

  const auto list = [](std::size_t elements) {
    std::string text;
    for (std::size_t i = 0; i < elements; ++i) text += "- a\n";
    return text;
  };
  EXPECT_EQ(error_of(list(kMostYamlNodes - 1)), "");
  EXPECT_EQ(error_of(list(kMostYamlNodes)), "f.yaml:20000: more than 20000 values");

  EXPECT_EQ(error_of("#" + std::string(kLargestYaml - 1, 'x')), "");
  EXPECT_EQ(error_of("#" + std::string(kLargestYaml, 'x')), "f.yaml: larger than 1048576 bytes");
}

}  // namespace
}  // namespace cofferdam::domain
