#include <gtest/gtest.h>

#include "compiler_coroutine_patterns.h"

namespace cofferdam::async {
namespace {

TEST(CompilerCoroutineTest, BuildsEveryPatternRight) {
  EXPECT_EQ(broken_coroutine_pattern(), "");
}

}  // namespace
}  // namespace cofferdam::async
