// What a confined command can send to the proxy first: request heads, and TLS hellos inside a tunnel.
// links: cofferdam_egress
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "domain/network_rule.h"
#include "egress/client_hello.h"
#include "egress/request_head.h"

namespace {

using cofferdam::egress::ClientHello;
using cofferdam::egress::HeadKind;
using cofferdam::egress::RequestHead;

void require(bool holds) {
  if (!holds) std::abort();
}

// A head that is found whole is found the same when it comes byte by byte.
void check_splitting(std::string_view bytes, std::size_t end) {
  std::size_t scanned = 0;
  for (std::size_t length = 1; length < end; ++length) {
    const auto partial = cofferdam::egress::find_head_end(bytes.substr(0, length), scanned);
    require(partial.has_value() && !partial->has_value());
  }
  const auto whole = cofferdam::egress::find_head_end(bytes, scanned);
  require(whole.has_value() && *whole == end);
}

void check_head(const RequestHead& head) {
  require(head.port != 0 && !head.host.empty() && !head.method.empty());
  const auto canonical = cofferdam::domain::canonical_host(head.host);
  require(canonical.has_value() && *canonical == head.host);
  require(!(head.chunked && head.content_length));
  require((head.form == RequestHead::Form::kConnect) == head.path.empty());
  for (const std::string* text : {&head.host, &head.authority, &head.path, &head.method}) {
    require(text->find_first_of(std::string_view("\r\n\0 ", 4)) == std::string::npos);
  }
}

void check_requests(std::string_view bytes) {
  std::size_t scanned = 0;
  const auto end = cofferdam::egress::find_head_end(bytes, scanned);
  if (!end || !*end) return;
  check_splitting(bytes, **end);
  for (const HeadKind kind : {HeadKind::kProxy, HeadKind::kOrigin}) {
    const auto head = cofferdam::egress::parse_request_head(bytes.substr(0, **end), kind);
    if (head) check_head(*head);
  }
}

void check_hello(std::string_view bytes) {
  const ClientHello hello = cofferdam::egress::read_client_hello(bytes);
  if (hello.state == ClientHello::State::kIncomplete) return;
  // More bytes change nothing about what has been decided.
  const ClientHello longer = cofferdam::egress::read_client_hello(std::string(bytes) + "\x16\x03\x01");
  require(longer.state == hello.state && longer.server_name == hello.server_name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_requests(bytes);
  check_hello(bytes);
  return 0;
}
