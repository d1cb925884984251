// The head of one proxy request, judged on its raw bytes: what two parsers could read in two ways is refused here,
// before any library sees it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace cofferdam::egress {

inline constexpr std::size_t kMaxHeadBytes = 16 * 1024;
inline constexpr std::size_t kMaxHeaderFields = 100;

// Why a request is refused: the HTTP status, and the code and message of the JSON body.
struct HeadError {
  int status = 400;
  std::string_view code = "invalid_request";
  std::string message;
};

// Where the head ends (one past its blank line), nothing while it may still be incomplete, or why it never can be
// one. `scanned` remembers what earlier calls have looked at; start with 0.
std::expected<std::optional<std::size_t>, HeadError> find_head_end(std::string_view bytes, std::size_t& scanned);

struct RequestHead {
  enum class Form : std::uint8_t { kConnect, kAbsolute, kOrigin };

  Form form = Form::kConnect;
  std::string method;
  std::string host;        // canonical; empty for kOrigin without a Host field
  std::uint16_t port = 0;  // of the target; 80 where http leaves it out
  std::string authority;   // "host" or "host:port" for the Host field of the forwarded request
  std::string path;        // origin-form target to forward; empty for CONNECT
  bool http_1_0 = false;
  bool chunked = false;
  std::optional<std::uint64_t> content_length;
  bool expects_continue = false;
  bool wants_close = false;  // "Connection: close", or HTTP/1.0 without keep-alive
  bool upgrades_websocket = false;

  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// Which targets make sense on this connection.
enum class HeadKind : std::uint8_t {
  kProxy,   // CONNECT host:port and http://host/path
  kOrigin,  // inside a tunnel to port 80: /path with a Host field, or http://host/path
};

// `head` ends with its blank line, as find_head_end says.
std::expected<RequestHead, HeadError> parse_request_head(std::string_view head, HeadKind kind);

}  // namespace cofferdam::egress
