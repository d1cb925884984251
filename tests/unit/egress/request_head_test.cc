#include "egress/request_head.h"

#include <gtest/gtest.h>

#include <string>

namespace cofferdam::egress {
namespace {

using Form = RequestHead::Form;

std::expected<RequestHead, HeadError> parse(std::string_view head, HeadKind kind = HeadKind::kProxy) {
  std::size_t scanned = 0;
  const auto end = find_head_end(head, scanned);
  if (!end) return std::unexpected(end.error());
  if (!*end) return std::unexpected(HeadError{.status = 0, .code = "incomplete", .message = {}});
  return parse_request_head(head.substr(0, **end), kind);
}

int status_of(std::string_view head, HeadKind kind = HeadKind::kProxy) {
  const auto parsed = parse(head, kind);
  return parsed ? 200 : parsed.error().status;
}

TEST(RequestHeadTest, ReadsConnect) {
  const auto head = parse("CONNECT Example.COM.:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->form, Form::kConnect);
  EXPECT_EQ(head->host, "example.com");
  EXPECT_EQ(head->port, 443);
  EXPECT_EQ(parse("CONNECT [::1]:8080 HTTP/1.0\r\n\r\n")->host, "::1");
  EXPECT_EQ(parse("CONNECT 0x7f.1:80 HTTP/1.1\r\n\r\n")->host, "127.0.0.1");
  EXPECT_EQ(parse("CONNECT a.com:1 HTTP/1.1\r\nHost: a.com\r\n\r\n")->port, 1);
  EXPECT_EQ(parse("CONNECT a.com:65535 HTTP/1.1\r\nContent-Length: 0\r\n\r\n")->port, 65535);
}

TEST(RequestHeadTest, ReadsAbsoluteForm) {
  const auto head = parse("GET http://Example.com:8080/a?b HTTP/1.1\r\nHost: example.com:8080\r\n\r\n");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->form, Form::kAbsolute);
  EXPECT_EQ(head->host, "example.com");
  EXPECT_EQ(head->port, 8080);
  EXPECT_EQ(head->authority, "example.com:8080");
  EXPECT_EQ(head->path, "/a?b");
  EXPECT_EQ(parse("GET http://a.com HTTP/1.1\r\n\r\n")->path, "/");
  EXPECT_EQ(parse("GET http://a.com?x HTTP/1.1\r\n\r\n")->path, "/?x");
  EXPECT_EQ(parse("GET HTTP://a.com:80/ HTTP/1.1\r\n\r\n")->authority, "a.com");
  EXPECT_EQ(parse("GET http://[::1]:81/ HTTP/1.1\r\n\r\n")->authority, "[::1]:81");
}

TEST(RequestHeadTest, ReadsOriginFormInsideATunnel) {
  const auto head = parse("GET /a HTTP/1.1\r\nHost: Example.com\r\n\r\n", HeadKind::kOrigin);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->host, "example.com");
  EXPECT_EQ(head->port, 80);
  EXPECT_EQ(status_of("GET /a HTTP/1.1\r\n\r\n", HeadKind::kOrigin), 400);
  EXPECT_EQ(status_of("GET /a HTTP/1.1\r\nHost: \r\n\r\n", HeadKind::kOrigin), 400);
  EXPECT_EQ(status_of("CONNECT a.com:80 HTTP/1.1\r\n\r\n", HeadKind::kOrigin), 400);
  EXPECT_EQ(parse("OPTIONS * HTTP/1.1\r\nHost: a.com\r\n\r\n", HeadKind::kOrigin)->path, "*");
  EXPECT_EQ(parse("GET http://b.com/ HTTP/1.1\r\nHost: b.com\r\n\r\n", HeadKind::kOrigin)->host, "b.com");
}

TEST(RequestHeadTest, KnowsFramingAndConnection) {
  const auto with = [](std::string fields, std::string version = "1.1", std::string method = "POST") {
    return parse(method + " http://a.com/ HTTP/" + version + "\r\n" + fields + "\r\n");
  };
  EXPECT_EQ(with("Content-Length: 12\r\n")->content_length, 12);
  EXPECT_TRUE(with("Transfer-Encoding: chunked\r\n")->chunked);
  EXPECT_TRUE(with("Transfer-Encoding: Chunked\r\n")->chunked);
  EXPECT_TRUE(with("Expect: 100-Continue\r\nContent-Length: 1\r\n")->expects_continue);
  EXPECT_TRUE(with("Connection: foo, close\r\n")->wants_close);
  EXPECT_FALSE(with("")->wants_close);
  EXPECT_TRUE(with("", "1.0")->wants_close);
  EXPECT_FALSE(with("Connection: Keep-Alive\r\n", "1.0")->wants_close);
  EXPECT_TRUE(with("Connection: Upgrade\r\nUpgrade: WebSocket\r\n", "1.1", "GET")->upgrades_websocket);
  EXPECT_FALSE(with("Upgrade: websocket\r\n", "1.1", "GET")->upgrades_websocket);
  EXPECT_FALSE(with("Connection: Upgrade\r\nUpgrade: h2c\r\n", "1.1", "GET")->upgrades_websocket);
}

TEST(RequestHeadTest, GivesTheKnownCodes) {
  const auto https = parse("GET https://a.com/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(https.error().code, "https_requires_connect");
  EXPECT_EQ(https.error().message, "HTTPS targets must use CONNECT through the Paperclip sandbox proxy.");
  EXPECT_EQ(parse("GET ftp://a.com/ HTTP/1.1\r\n\r\n").error().code, "https_requires_connect");
  const auto origin = parse("GET / HTTP/1.1\r\nHost: a.com\r\n\r\n");
  EXPECT_EQ(origin.error().code, "invalid_request_url");
  EXPECT_EQ(origin.error().message, "Paperclip sandbox proxy requires an absolute request URL.");
  EXPECT_EQ(parse("OPTIONS * HTTP/1.1\r\n\r\n").error().code, "invalid_request_url");
  EXPECT_EQ(parse("GET http:///x HTTP/1.1\r\n\r\n").error().code, "invalid_request_url");
}

TEST(RequestHeadTest, RefusesAmbiguousOrMalformedHeads) {
  using namespace std::literals;
  const std::string_view kCases[] = {
      "CONNECT a.com:0 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:65536 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:99999 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:abc HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com: HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:+443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:0443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:443/ HTTP/1.1\r\n\r\n"sv,
      "CONNECT ::1:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT [::1:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT [::1]443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT u@a.com:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com.:443@b.com:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com..:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT :443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT http://a.com:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nHost: b.com:443\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nHost: a.com:80\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nHost: a.com\r\nHost: a.com\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/2.0\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.2\r\n\r\n"sv,
      "CONNECT a.com:443 http/1.1\r\n\r\n"sv,
      "CONNECT a.com:443\r\n\r\n"sv,
      "CONNECT  a.com:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT a.com:443  HTTP/1.1\r\n\r\n"sv,
      " CONNECT a.com:443 HTTP/1.1\r\n\r\n"sv,
      "CONNECT\ta.com:443 HTTP/1.1\r\n\r\n"sv,
      "\r\nCONNECT a.com:443 HTTP/1.1\r\n\r\n"sv,
      "PRI * HTTP/2.0\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\n\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nA: b\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nA: b\rc\r\n\r\n"sv,
      "CONNECT a.com:443 HTTP/1.1\r\nA: b\0c\r\n\r\n"sv,
      "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"sv,
      "GET http://a.com/ HTTP/1.1\r\nA : b\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA\t: b\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\n: b\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA(b): c\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\n A: b\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA: \x01\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nA: \x7f\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: +5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: -5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: \r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: \x0b"
      "chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nExpect: magic\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nHost: b.com\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nHost: a.com\r\nHost: b.com\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nHost: a.com, b.com\r\n\r\n"sv,
      "GET http://a.com/ HTTP/1.1\r\nHost: a.com@b.com\r\n\r\n"sv,
      "GET http://u:p@a.com/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com\\@b.com/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com:0/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com:99999/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com:/ HTTP/1.1\r\n\r\n"sv,
      "GET http://::1/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com/#f HTTP/1.1\r\n\r\n"sv,
      "GET http://a%2ecom/ HTTP/1.1\r\n\r\n"sv,
      "GET http:/a.com/ HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com/\x80 HTTP/1.1\r\n\r\n"sv,
      "GET http://a.com/ x HTTP/1.1\r\n\r\n"sv,
      "G@T http://a.com/ HTTP/1.1\r\n\r\n"sv,
      "GET a.com HTTP/1.1\r\n\r\n"sv,
      "GET //a.com/ HTTP/1.1\r\n\r\n"sv,
  };
  for (const std::string_view text : kCases) EXPECT_EQ(status_of(text), 400) << text;
}

TEST(RequestHeadTest, KeepsItsBounds) {
  const std::string start = "GET http://a.com/ HTTP/1.1\r\n";
  const std::string at_bound = start + "A: " + std::string(kMaxHeadBytes - start.size() - 7, 'x') + "\r\n\r\n";
  ASSERT_EQ(at_bound.size(), kMaxHeadBytes);
  EXPECT_EQ(status_of(at_bound), 200);
  EXPECT_EQ(status_of(start + "A: " + std::string(kMaxHeadBytes, 'x')), 431);
  std::string fields = start;
  for (std::size_t i = 0; i < kMaxHeaderFields; ++i) fields += "A: b\r\n";
  EXPECT_EQ(status_of(fields + "\r\n"), 200);
  EXPECT_EQ(status_of(fields + "A: b\r\n\r\n"), 431);
  EXPECT_EQ(status_of(std::string(33, 'G') + " http://a.com/ HTTP/1.1\r\n\r\n"), 400);
}

TEST(RequestHeadTest, FindsTheEndAcrossAnySplit) {
  const std::string head = "GET http://a.com/ HTTP/1.1\r\nA: b\r\n\r\n";
  for (std::size_t split = 0; split <= head.size(); ++split) {
    std::size_t scanned = 0;
    const auto first = find_head_end(std::string_view(head).substr(0, split), scanned);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->has_value(), split == head.size());
    if (*first) continue;
    const auto whole = find_head_end(head + "rest", scanned);
    ASSERT_TRUE(whole.has_value() && whole->has_value());
    EXPECT_EQ(**whole, head.size());
  }
}

}  // namespace
}  // namespace cofferdam::egress
