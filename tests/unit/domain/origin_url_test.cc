#include "domain/origin_url.h"

#include <gtest/gtest.h>

#include <string>

namespace cofferdam::domain {
namespace {

TEST(OriginUrlTest, TakesHostAndPortOfWebSchemes) {
  const auto url = parse_origin_url(" HTTPS://Api.example.com:8443/ ");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "Api.example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_TRUE(url->bare);
  EXPECT_EQ(parse_origin_url("ws://x.com")->default_port(), 80);
  EXPECT_EQ(parse_origin_url("wss://x.com")->default_port(), 443);
  EXPECT_EQ(parse_origin_url("ftp://x.com")->default_port(), 21);
  EXPECT_EQ(parse_origin_url("http://[::1]:80")->host, "[::1]");
}

TEST(OriginUrlTest, SaysWhetherSomethingFollowsTheHost) {
  for (const char* text : {"https://x.com", "https://x.com/", "https://x.com?", "https://x.com#", "https://x.com\\",
                           "https://x.com:", "https:////x.com"}) {
    const auto url = parse_origin_url(text);
    ASSERT_TRUE(url) << text;
    EXPECT_TRUE(url->bare) << text;
    EXPECT_FALSE(url->port) << text;
  }
  for (const char* text :
       {"https://x.com/v1", "https://x.com//", "https://x.com?a=1", "https://x.com#f", "https://x.com/?#f"}) {
    const auto url = parse_origin_url(text);
    ASSERT_TRUE(url) << text;
    EXPECT_FALSE(url->bare) << text;
  }
}

TEST(OriginUrlTest, RefusesTheRest) {
  for (const char* text : {"",
                           "x.com",
                           "https://",
                           "https:///",
                           "file:///etc",
                           "foo://x.com",
                           "https://u@x.com",
                           "https://@x.com",
                           "https://x y.com",
                           "https://x.com\t",
                           "https://x\x7F.com",
                           "https://x.com:0",
                           "https://x.com:65536",
                           "https://x.com:8a",
                           "https://x.com:-1",
                           "https://::1",
                           "https://[::1",
                           "https://[::1]x",
                           "https://x.com:1:2",
                           "://x.com"}) {
    if (std::string_view(text) == "https://x.com\t") continue;  // white space at the end is trimmed
    EXPECT_FALSE(parse_origin_url(text)) << text;
  }
  EXPECT_FALSE(parse_origin_url(std::string_view("https://x\0.com", 14)));
}

}  // namespace
}  // namespace cofferdam::domain
