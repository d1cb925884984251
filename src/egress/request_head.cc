#include "egress/request_head.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "domain/network_rule.h"

namespace cofferdam::egress {
namespace {

using std::unexpected;

constexpr std::size_t kMaxMethodBytes = 32;

unexpected<HeadError> invalid(std::string message) {
  return unexpected(HeadError{.status = 400, .code = "invalid_request", .message = std::move(message)});
}

unexpected<HeadError> invalid_url(std::string_view detail = {}) {
  std::string message = "Paperclip sandbox proxy requires an absolute request URL.";
  if (!detail.empty()) message += " " + std::string(detail);
  return unexpected(HeadError{.status = 400, .code = "invalid_request_url", .message = std::move(message)});
}

bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_value_char(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
}

std::string_view without_space(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

struct Field {
  std::string_view name;
  std::string_view value;
};

std::expected<Field, HeadError> parse_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return invalid("A header field is folded over two lines.");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return invalid("A header line has no colon.");
  const Field field{.name = line.substr(0, colon), .value = without_space(line.substr(colon + 1))};
  if (!is_token(field.name)) return invalid("A header field has a name that is no token.");
  if (!std::ranges::all_of(field.value, is_value_char)) return invalid("A header field holds a control character.");
  return field;
}

struct Authority {
  std::string host;  // canonical
  std::optional<std::uint16_t> port;
  std::string text;  // canonical host, in brackets when it has colons
};

std::expected<std::uint16_t, HeadError> parse_port(std::string_view text) {
  const std::optional<std::uint64_t> port = parse_decimal(text);
  if (!port || *port == 0 || *port > 65535 || text.size() > 5 || text.front() == '0') {
    return invalid("The port is not a number from 1 to 65535.");
  }
  return static_cast<std::uint16_t>(*port);
}

std::expected<Authority, HeadError> parse_authority(std::string_view text) {
  if (text.contains('@')) return invalid("The target holds a user name.");
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return invalid("The target has \"[\" without \"]\".");
    host = text.substr(0, end + 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return invalid("The target has something after \"]\".");
    if (!rest.empty()) port = rest.substr(1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (text.find(':', colon + 1) != std::string_view::npos) return invalid("An IPv6 address needs brackets.");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.ends_with("..")) return invalid("The host of the target is no host.");
  const Result<std::string> canonical = domain::canonical_host(host);
  if (!canonical) return invalid("The host of the target is no host.");
  Authority out{.host = *canonical, .port = std::nullopt, .text = *canonical};
  if (out.host.contains(':')) out.text = "[" + out.host + "]";
  if (!port) return out;
  const std::expected<std::uint16_t, HeadError> number = parse_port(*port);
  if (!number) return unexpected(number.error());
  out.port = *number;
  return out;
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  bool http_1_0 = false;
};

std::expected<RequestLine, HeadError> parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return invalid("The request line has not three parts.");
  RequestLine out{.method = line.substr(0, first), .target = line.substr(first + 1, last - first - 1)};
  const std::string_view version = line.substr(last + 1);
  if (!is_token(out.method) || out.method.size() > kMaxMethodBytes) return invalid("The method is no token.");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return invalid("The version is neither HTTP/1.1 nor HTTP/1.0.");
  const auto is_target_char = [](char c) { return c > 0x20 && c < 0x7F; };
  if (out.target.empty() || !std::ranges::all_of(out.target, is_target_char)) {
    return invalid("The target is empty or holds a character that no URL has.");
  }
  out.http_1_0 = version == "HTTP/1.0";
  return out;
}

std::expected<void, HeadError> read_connect_target(RequestHead& head, std::string_view target) {
  if (target.find_first_of("/?#\\") != std::string_view::npos) return invalid("CONNECT needs host:port.");
  const std::expected<Authority, HeadError> authority = parse_authority(target);
  if (!authority) return unexpected(authority.error());
  if (!authority->port) return invalid("CONNECT needs host:port.");
  head.form = RequestHead::Form::kConnect;
  head.host = authority->host;
  head.port = *authority->port;
  head.authority = authority->text + ":" + std::to_string(head.port);
  return {};
}

std::expected<void, HeadError> read_url(RequestHead& head, std::string_view target) {
  const std::size_t mark = target.find("://");
  if (mark == std::string_view::npos || mark == 0) return invalid_url();
  const std::string scheme = ascii_lower(target.substr(0, mark));
  const bool is_scheme = std::ranges::all_of(scheme, [](char c) {
    return is_token_char(c) && std::string_view("!#$%&'*^_`|~").find(c) == std::string_view::npos;
  });
  if (!is_scheme) return invalid_url();
  if (scheme != "http") {
    return unexpected(HeadError{.status = 400,
                                .code = "https_requires_connect",
                                .message = "HTTPS targets must use CONNECT through the Paperclip sandbox proxy."});
  }
  target.remove_prefix(mark + 3);
  if (target.contains('#')) return invalid_url("It must not hold a fragment.");
  const std::size_t end = std::min(target.find_first_of("/?"), target.size());
  if (end == 0) return invalid_url();
  const std::expected<Authority, HeadError> authority = parse_authority(target.substr(0, end));
  if (!authority) return unexpected(authority.error());
  head.form = RequestHead::Form::kAbsolute;
  head.host = authority->host;
  head.port = authority->port.value_or(80);
  head.authority = head.port == 80 ? authority->text : authority->text + ":" + std::to_string(head.port);
  head.path = target.substr(end);
  if (!head.path.starts_with('/')) head.path.insert(0, "/");
  return {};
}

std::expected<void, HeadError> read_target(RequestHead& head, std::string_view target, HeadKind kind) {
  if (head.method == "CONNECT") {
    if (kind == HeadKind::kOrigin) return invalid("A tunnel inside a tunnel is not possible.");
    return read_connect_target(head, target);
  }
  if (kind == HeadKind::kOrigin && (target.starts_with('/') || (target == "*" && head.method == "OPTIONS"))) {
    if (target.contains('#')) return invalid("The target holds a fragment.");
    head.form = RequestHead::Form::kOrigin;
    head.path = target;
    return {};
  }
  return read_url(head, target);
}

// The fields that decide where a message ends or where it goes, each counted.
class FieldReader {
 public:
  explicit FieldReader(RequestHead& head) : head_(head) {}

  std::expected<void, HeadError> add(const Field& field) {
    if (equals_ignoring_case(field.name, "host")) return add_host(field.value);
    if (equals_ignoring_case(field.name, "content-length")) return add_length(field.value);
    if (equals_ignoring_case(field.name, "transfer-encoding")) return add_encoding(field.value);
    if (equals_ignoring_case(field.name, "connection")) add_connection(field.value);
    if (equals_ignoring_case(field.name, "upgrade")) websocket_ = equals_ignoring_case(field.value, "websocket");
    if (equals_ignoring_case(field.name, "expect")) {
      if (!equals_ignoring_case(field.value, "100-continue")) return invalid("The expectation is not 100-continue.");
      head_.expects_continue = true;
    }
    return {};
  }

  std::expected<void, HeadError> finish() {
    if (head_.content_length && head_.chunked) return invalid("The request has Content-Length and Transfer-Encoding.");
    if (head_.chunked && head_.http_1_0) return invalid("HTTP/1.0 has no Transfer-Encoding.");
    if (head_.form == RequestHead::Form::kConnect && head_.has_body()) return invalid("CONNECT has no body.");
    head_.wants_close = close_ || (head_.http_1_0 && !keep_alive_);
    head_.upgrades_websocket = websocket_ && upgrade_ && !head_.http_1_0 && head_.method == "GET" && !head_.has_body();
    return check_host();
  }

 private:
  std::expected<void, HeadError> add_host(std::string_view value) {
    if (host_) return invalid("The request has two Host fields.");
    host_ = value;
    return {};
  }

  std::expected<void, HeadError> add_length(std::string_view value) {
    if (head_.content_length) return invalid("The request has two Content-Length fields.");
    const std::optional<std::uint64_t> length = parse_decimal(value);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    if (!length || *length > kMost) return invalid("Content-Length is not a number.");
    head_.content_length = *length;
    return {};
  }

  std::expected<void, HeadError> add_encoding(std::string_view value) {
    if (head_.chunked) return invalid("The request has two Transfer-Encoding fields.");
    if (!equals_ignoring_case(value, "chunked")) return invalid("The transfer encoding is not \"chunked\".");
    head_.chunked = true;
    return {};
  }

  void add_connection(std::string_view value) {
    for (const std::string_view piece : split(value, ',')) {
      const std::string_view option = without_space(piece);
      close_ = close_ || equals_ignoring_case(option, "close");
      keep_alive_ = keep_alive_ || equals_ignoring_case(option, "keep-alive");
      upgrade_ = upgrade_ || equals_ignoring_case(option, "upgrade");
    }
  }

  std::expected<void, HeadError> check_host() {
    if (!host_) {
      if (head_.form != RequestHead::Form::kOrigin) return {};  // the target says it all
      return invalid("The request has no Host field.");
    }
    const std::expected<Authority, HeadError> authority = parse_authority(*host_);
    if (!authority) return invalid("The Host field names no host.");
    if (head_.form == RequestHead::Form::kOrigin) {
      head_.host = authority->host;
      head_.port = authority->port.value_or(80);
      head_.authority = *host_;
      return {};
    }
    const bool same_port = !authority->port || *authority->port == head_.port;
    if (authority->host != head_.host || !same_port)
      return invalid("The Host field and the target name different hosts.");
    return {};
  }

  RequestHead& head_;
  std::optional<std::string_view> host_;
  bool close_ = false;
  bool keep_alive_ = false;
  bool upgrade_ = false;
  bool websocket_ = false;
};

std::expected<void, HeadError> read_fields(RequestHead& head, std::string_view lines) {
  FieldReader reader(head);
  std::size_t count = 0;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    if (end == std::string_view::npos) return invalid("The head does not end with a blank line.");
    if (end == 0) break;
    if (++count > kMaxHeaderFields) {
      return unexpected(
          HeadError{.status = 431, .code = "invalid_request", .message = "The request has too many header fields."});
    }
    const std::expected<Field, HeadError> field = parse_field(lines.substr(0, end));
    if (!field) return unexpected(field.error());
    if (const auto added = reader.add(*field); !added) return added;
    lines.remove_prefix(end + 2);
  }
  return reader.finish();
}

}  // namespace

std::expected<std::optional<std::size_t>, HeadError> find_head_end(std::string_view bytes, std::size_t& scanned) {
  for (; scanned < bytes.size() && scanned < kMaxHeadBytes; ++scanned) {
    const char c = bytes[scanned];
    if (c == '\0') return invalid("The request head holds a NUL byte.");
    if (c == '\n') {
      if (scanned == 0 || bytes[scanned - 1] != '\r') return invalid("A line of the request head ends without CR.");
      if (scanned == 1) return invalid("The request line is empty.");
      if (scanned >= 3 && bytes[scanned - 2] == '\n') return ++scanned;
    } else if (scanned > 0 && bytes[scanned - 1] == '\r') {
      return invalid("The request head holds a CR that ends no line.");
    }
  }
  if (scanned >= kMaxHeadBytes) {
    return unexpected(
        HeadError{.status = 431, .code = "invalid_request", .message = "The request head is longer than 16 KiB."});
  }
  return std::nullopt;
}

std::expected<RequestHead, HeadError> parse_request_head(std::string_view head, HeadKind kind) {
  const std::size_t line_end = head.find("\r\n");
  if (line_end == std::string_view::npos) return invalid("The request has no request line.");
  const std::expected<RequestLine, HeadError> line = parse_request_line(head.substr(0, line_end));
  if (!line) return unexpected(line.error());
  RequestHead out;
  out.method = line->method;
  out.http_1_0 = line->http_1_0;
  if (const auto read = read_target(out, line->target, kind); !read) return unexpected(read.error());
  if (const auto read = read_fields(out, head.substr(line_end + 2)); !read) return unexpected(read.error());
  return out;
}

}  // namespace cofferdam::egress
