// One HTTP/1.1 request and its response between a client and an origin server, as a forwarding proxy does it.
#pragma once

#include <cstdint>
#include <string>

#include "async/loop.h"

namespace cofferdam::net {

struct ExchangeRequest {
  std::string head;          // the raw head as it came; already judged, so that it has one meaning only
  std::string target;        // origin-form target to send instead of the client's
  std::string host_field;    // value of Host to send instead of the client's
  bool head_method = false;  // HEAD: the response has no body whatever its fields say
  bool has_body = false;
  bool http_1_0 = false;            // the client's version
  bool wants_close = false;         // the client's connection ends after this
  bool upgrades_websocket = false;  // "Connection: Upgrade" and "Upgrade: websocket" are passed on
};

struct ExchangeResult {
  enum class End : std::uint8_t {
    kComplete,        // the client has its response
    kSwitched,        // 101 was passed on; the connections now carry another protocol
    kUpstreamFailed,  // nothing was sent to the client: it can still be told why (`failure`)
    kBadRequestBody,  // the body of the request is malformed, nothing was sent to the client
    kBroken,          // a side went away in the middle: close both without further words
  };
  End end = End::kBroken;
  bool client_reusable = false;
  bool upstream_reusable = false;
  std::string failure;        // "upstream_closed", "bad_response"
  std::string upstream_left;  // kSwitched: what the origin sent behind its 101
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

// Sends the request, streams its body up and the response down as it comes; both with back-pressure. Fields that
// concern one connection only are removed on both ways. `client_buffer` holds what was read behind the head and
// afterwards what belongs to the next request. Both sockets must outlive the call; cancelling it leaves them in an
// unknown state.
async::Task<ExchangeResult> exchange(async::Socket& client, std::string& client_buffer, async::Socket& upstream,
                                     ExchangeRequest request);

}  // namespace cofferdam::net
