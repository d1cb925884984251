#include "domain/path.h"

#include <gtest/gtest.h>

namespace cofferdam::domain {
namespace {

TEST(PathTest, NormalizesWithoutTouchingNames) {
  EXPECT_EQ(normalized_absolute("/a//b/./c/"), "/a/b/c");
  EXPECT_EQ(normalized_absolute("/a/../../b"), "/b");
  EXPECT_EQ(normalized_absolute("/"), "/");
  EXPECT_EQ(normalized_absolute("/a /\tb "), "/a /\tb ") << "a name may hold white space, also at its end";
  for (const char* wrong : {"", "a", "./a", " /a"}) EXPECT_EQ(normalized_absolute(wrong), std::nullopt) << wrong;
}

TEST(PathTest, InsideIsDecidedByComponents) {
  EXPECT_TRUE(is_inside("/a/..b", "/a"));
  EXPECT_TRUE(is_inside("/a", "/a"));
  EXPECT_TRUE(is_inside("/a", "/"));
  EXPECT_FALSE(is_inside("/ab", "/a"));
}

}  // namespace
}  // namespace cofferdam::domain
