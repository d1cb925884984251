#include "net/http_exchange.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "async/task_scope.h"
#include "base/strings.h"

namespace cofferdam::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using async::Socket;
using async::Task;
using beast::error_code;
using End = ExchangeResult::End;

constexpr std::uint32_t kMaxResponseHeadBytes = 64 * 1024;
constexpr std::size_t kBodyBytes = 64 * 1024;
constexpr int kMaxInterimResponses = 16;

using RequestParser = http::request_parser<http::buffer_body>;
using ResponseParser = http::response_parser<http::buffer_body>;

// Removes what is meant for the next hop only: the fixed set of RFC 9110 §7.6.1 and whatever Connection names.
void strip_hop_by_hop(http::fields& fields) {
  std::vector<std::string> named;
  const auto range = fields.equal_range(http::field::connection);
  for (auto field = range.first; field != range.second; ++field) {
    const auto value = field->value();
    for (const std::string_view option : split({value.data(), value.size()}, ',')) named.emplace_back(trimmed(option));
  }
  for (const std::string& name : named) {
    // A client must not be able to remove what decides where a message goes or ends.
    const bool essential = equals_ignoring_case(name, "host") || equals_ignoring_case(name, "content-length");
    if (!name.empty() && !essential) fields.erase(name);
  }
  for (const http::field name : {http::field::connection, http::field::keep_alive, http::field::proxy_connection,
                                 http::field::proxy_authorization, http::field::proxy_authenticate, http::field::te,
                                 http::field::trailer, http::field::upgrade, http::field::transfer_encoding}) {
    fields.erase(name);
  }
}

// Turns the room that a parser has filled into a piece for the serializer. An empty piece must be none at all, or it
// would be written as the last chunk, and then once more.
void offer(http::buffer_body::value_type& body, std::vector<char>& space, bool last) {
  body.size = space.size() - body.size;
  body.data = body.size > 0 ? space.data() : nullptr;
  body.more = !last;
}

// Both directions of one exchange. Lives in the frame of exchange().
class Exchange {
 public:
  Exchange(Socket& client, std::string& client_buffer, Socket& upstream, ExchangeRequest request)
      : client_(client), client_buffer_(client_buffer), upstream_(upstream), request_(std::move(request)) {
    client_bytes_.commit(asio::buffer_copy(client_bytes_.prepare(client_buffer_.size()), asio::buffer(client_buffer_)));
    client_buffer_.clear();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Task<ExchangeResult> run() {
    const async::Executor executor = co_await asio::this_coro::executor;
    if (!prepare_request()) {
      result_.end = End::kBadRequestBody;
      co_return std::move(result_);
    }
    async::TaskScope scope(executor);
    // A cancellation must not unwind this frame while the upload still uses it: operations then only fail.
    co_await asio::this_coro::throw_if_cancelled(false);
    scope.spawn(watch_client());
    if (request_.has_body) {
      scope.spawn(send_request());
    } else {
      co_await send_request();
    }
    co_await receive_response();
    // A response that is complete before the request is means that the origin does not want the rest.
    if (scope.size() > 0) scope.cancel();
    co_await scope.join();
    co_await asio::this_coro::throw_if_cancelled(true);
    finish();
    co_return std::move(result_);
  }

 private:
  bool prepare_request() {
    parser_.header_limit(static_cast<std::uint32_t>(request_.head.size()));
    parser_.body_limit(boost::none);
    error_code failure;
    parser_.put(asio::buffer(request_.head), failure);
    if (failure && failure != http::error::need_more) return false;
    if (!parser_.is_header_done()) return false;
    auto& message = parser_.get();
    const bool chunked = message.chunked();
    strip_hop_by_hop(message);
    message.target(request_.target);
    message.set(http::field::host, request_.host_field);
    message.version(request_.http_1_0 ? 10 : 11);
    if (request_.upgrades_websocket) {
      message.set(http::field::connection, "Upgrade");
      message.set(http::field::upgrade, "websocket");
    }
    if (chunked) message.chunked(true);
    return true;
  }

  // A client that is gone ends the exchange even while the origin is silent. Its half-close does not: it may still
  // read. A client that closed looks the same until keep-alive probes of its socket find it gone.
  Task<void> watch_client() {
    const auto [failure] = co_await client_.async_wait(Socket::wait_error, async::kOutcome);
    int pending = 0;
    socklen_t size = sizeof(pending);
    if (failure || ::getsockopt(client_.native_handle(), SOL_SOCKET, SO_ERROR, &pending, &size) != 0) co_return;
    if (pending == 0) co_return;
    client_failed_ = true;
    error_code ignored;
    upstream_.close(ignored);
  }

  Task<void> send_request() {
    http::request_serializer<http::buffer_body> serializer(parser_.get());
    auto& body = parser_.get().body();
    body.data = nullptr;
    body.size = 0;
    body.more = request_.has_body;
    {
      auto [failure, count] = co_await http::async_write_header(upstream_, serializer, async::kOutcome);
      result_.bytes_up += count;
      if (failure) co_return;  // the origin may have answered already; the response's reader finds out
    }
    if (request_.has_body) {
      std::vector<char> space(kBodyBytes);
      while (!serializer.is_done()) {
        if (!co_await fill_body(body, space)) co_return;
        auto [failure, count] = co_await http::async_write(upstream_, serializer, async::kOutcome);
        result_.bytes_up += count;
        if (failure == http::error::need_buffer) failure = {};
        if (failure) co_return;
      }
    }
    request_sent_ = true;
  }

  // The next piece of the request's body; false when the client broke it off or it is malformed.
  Task<bool> fill_body(http::buffer_body::value_type& body, std::vector<char>& space) {
    body.data = space.data();
    body.size = space.size();
    body.more = true;
    while (!parser_.is_done() && body.size == space.size()) {
      auto [failure, count] = co_await http::async_read_some(client_, client_bytes_, parser_, async::kOutcome);
      if (failure == http::error::need_buffer) failure = {};
      if (failure) {
        client_failed_ = true;
        bad_body_ = failure.category() == http::make_error_code(http::error::bad_chunk).category() &&
                    failure != http::error::end_of_stream && failure != http::error::partial_message;
        error_code ignored;
        upstream_.close(ignored);
        co_return false;
      }
    }
    offer(body, space, parser_.is_done());
    co_return true;
  }

  Task<void> receive_response() {
    for (int interim = 0; interim <= kMaxInterimResponses; ++interim) {
      std::optional<ResponseParser> parser(std::in_place);
      parser->header_limit(kMaxResponseHeadBytes);
      parser->body_limit(boost::none);
      if (request_.head_method) parser->skip(true);
      auto [failure, count] = co_await http::async_read_header(upstream_, upstream_bytes_, *parser, async::kOutcome);
      if (failure) co_return upstream_failed(failure);
      const unsigned status = parser->get().result_int();
      if (status == 101) co_return co_await pass_switch(*parser);
      if (status >= 200) co_return co_await pass_response(*parser);
      if (request_.http_1_0) continue;  // such a client knows no interim responses
      if (!co_await pass_head(*parser)) co_return;
    }
    fail("bad_response");
  }

  void upstream_failed(const error_code& failure) {
    if (failure == asio::error::operation_aborted && client_failed_) return;
    const bool closed = failure == http::error::end_of_stream || failure == http::error::partial_message ||
                        failure.category() == boost::system::system_category() ||
                        failure.category() == asio::error::get_misc_category();
    fail(closed ? "upstream_closed" : "bad_response");
  }

  void fail(std::string reason) {
    if (result_.bytes_down > 0) return;  // the client has seen part of an answer: it stays broken
    result_.end = End::kUpstreamFailed;
    result_.failure = std::move(reason);
  }

  Task<bool> pass_head(ResponseParser& parser) {
    strip_hop_by_hop(parser.get());
    http::response_serializer<http::buffer_body> serializer(parser.get());
    parser.get().body().data = nullptr;
    parser.get().body().more = false;
    auto [failure, count] = co_await http::async_write_header(client_, serializer, async::kOutcome);
    result_.bytes_down += count;
    co_return !failure;
  }

  Task<void> pass_switch(ResponseParser& parser) {
    if (!request_.upgrades_websocket) co_return fail("bad_response");
    auto& message = parser.get();
    strip_hop_by_hop(message);
    message.set(http::field::connection, "Upgrade");
    message.set(http::field::upgrade, "websocket");
    http::response_serializer<http::buffer_body> serializer(message);
    auto [failure, count] = co_await http::async_write_header(client_, serializer, async::kOutcome);
    result_.bytes_down += count;
    if (failure) co_return;
    result_.upstream_left = beast::buffers_to_string(upstream_bytes_.data());
    result_.end = End::kSwitched;
  }

  Task<void> pass_response(ResponseParser& parser) {
    auto& message = parser.get();
    const unsigned status = message.result_int();
    const bool bodiless = request_.head_method || status == 204 || status == 304;
    const bool chunked = !bodiless && parser.chunked();
    const bool by_length = !bodiless && parser.content_length().has_value();
    upstream_keeps_ = parser.keep_alive() && (bodiless || chunked || by_length);
    // A body that only the end of the connection ends: the same for the client. So for a chunked one that an
    // HTTP/1.0 client cannot read.
    const bool by_close = !bodiless && !by_length && (!chunked || request_.http_1_0);
    strip_hop_by_hop(message);
    message.version(request_.http_1_0 ? 10 : 11);
    if (chunked && !request_.http_1_0) message.chunked(true);
    client_keeps_ = !by_close && !request_.wants_close;
    if (!client_keeps_) {
      message.set(http::field::connection, "close");
    } else if (request_.http_1_0) {
      message.set(http::field::connection, "keep-alive");
    }
    if (bodiless) {
      message.body().data = nullptr;
      message.body().more = false;
      http::response_serializer<http::buffer_body> serializer(message);
      auto [failure, count] = co_await http::async_write_header(client_, serializer, async::kOutcome);
      result_.bytes_down += count;
      if (!failure) result_.end = End::kComplete;
      co_return;
    }
    co_await pass_body(parser);
  }

  // Every piece goes on at once, however small: event streams live from that.
  Task<void> pass_body(ResponseParser& parser) {
    auto& body = parser.get().body();
    body.data = nullptr;
    body.size = 0;
    body.more = true;
    http::response_serializer<http::buffer_body> serializer(parser.get());
    {
      auto [failure, count] = co_await http::async_write_header(client_, serializer, async::kOutcome);
      result_.bytes_down += count;
      if (failure) co_return;
    }
    std::vector<char> space(kBodyBytes);
    while (!serializer.is_done()) {
      body.data = space.data();
      body.size = space.size();
      while (!parser.is_done() && body.size == space.size()) {
        auto [failure, count] = co_await http::async_read_some(upstream_, upstream_bytes_, parser, async::kOutcome);
        if (failure == http::error::need_buffer) failure = {};
        if (failure) co_return;
      }
      offer(body, space, parser.is_done());
      auto [failure, count] = co_await http::async_write(client_, serializer, async::kOutcome);
      result_.bytes_down += count;
      if (failure == http::error::need_buffer) failure = {};
      if (failure) co_return;
    }
    result_.end = End::kComplete;
  }

  void finish() {
    if (bad_body_ && result_.bytes_down == 0) result_.end = End::kBadRequestBody;
    const bool complete = result_.end == End::kComplete && request_sent_;
    result_.client_reusable = complete && client_keeps_;
    result_.upstream_reusable = complete && upstream_keeps_ && upstream_bytes_.size() == 0;
    client_buffer_ = beast::buffers_to_string(client_bytes_.data());
  }

  Socket& client_;
  std::string& client_buffer_;
  Socket& upstream_;
  ExchangeRequest request_;
  RequestParser parser_;
  beast::flat_buffer client_bytes_;
  beast::flat_buffer upstream_bytes_;
  ExchangeResult result_;
  bool request_sent_ = false;
  bool client_failed_ = false;
  bool bad_body_ = false;
  bool client_keeps_ = false;
  bool upstream_keeps_ = false;
};

}  // namespace

Task<ExchangeResult> exchange(Socket& client, std::string& client_buffer, Socket& upstream, ExchangeRequest request) {
  Exchange both(client, client_buffer, upstream, std::move(request));
  co_return co_await both.run();
}

}  // namespace cofferdam::net
