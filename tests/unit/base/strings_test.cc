#include "base/strings.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.h"

namespace cofferdam {
namespace {

TEST(StringsTest, PrintableEscapesWhatCouldDeceiveAReader) {
  EXPECT_EQ(printable("plain text"), "plain text");
  EXPECT_EQ(printable("grüße 漢字"), "grüße 漢字");
  EXPECT_EQ(printable("line\nbreak"), "line\\x0abreak");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("bad \xff byte"), "bad \\xff byte");
  EXPECT_EQ(printable("over\xc0\xaflong"), "over\\xc0\\xaflong");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "desrever"),
            "\\xe2\\x80\\xaedesrever")
      << "right-to-left override";
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "C1 control";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
}

TEST(StringsTest, ShellQuotedSurvivesAShell) {
  EXPECT_EQ(shell_quoted("plain-word_1/x.y:z"), "plain-word_1/x.y:z");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("two words"), "'two words'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$HOME;`x`"), "'$HOME;`x`'");
}

TEST(StringsTest, ParseDecimalTakesDigitsOnly) {
  EXPECT_EQ(parse_decimal("0"), 0U);
  EXPECT_EQ(parse_decimal("18446744073709551615"), 18446744073709551615U);
  for (const char* wrong : {"", " 1", "1 ", "+1", "-1", "0x1", "18446744073709551616", "1a"}) {
    EXPECT_EQ(parse_decimal(wrong), std::nullopt) << wrong;
  }
}

TEST(StringsTest, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a::b:", ':'), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ':'), (std::vector<std::string_view>{""}));
}

TEST(ErrorTest, ContextStandsBeforeTheMessageOutermostFirst) {
  const Error error = Error(ErrorCode::kIo, "read failed").with_context("inner").with_context("outer");
  EXPECT_EQ(error.to_string(), "outer: inner: read failed");
}

TEST(ErrorTest, AnErrnoGetsItsCode) {
  EXPECT_EQ(Error::from_errno(ENOENT, "open x").code(), ErrorCode::kNotFound);
  EXPECT_EQ(Error::from_errno(EACCES, "open x").code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(Error::from_errno(ENOSPC, "write x").code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(Error::from_errno(ENOENT, "open x").message(), "open x: No such file or directory");
}

}  // namespace
}  // namespace cofferdam
