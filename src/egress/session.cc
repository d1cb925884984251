#include "egress/session.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>

#include "async/deadline.h"
#include "base/strings.h"
#include "egress/answers.h"
#include "egress/client_hello.h"
#include "egress/dialer.h"
#include "egress/relay.h"
#include "egress/request_head.h"
#include "egress/route.h"
#include "net/http_exchange.h"

namespace cofferdam::egress {
namespace {

using async::Socket;
using async::Task;
using boost::system::error_code;
using domain::Admission;
using domain::ContentCheck;
using domain::IpAddress;
namespace asio = async::asio;

constexpr std::size_t kReadBytes = 16 * 1024;
// How long and how much a refused client may go on sending, so that it can read the answer before the reset.
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kLingerBytes = 1024 * 1024;
constexpr char kTlsHandshake = 0x16;
// TLS alert, fatal, access_denied: clients then say so instead of "connection reset".
constexpr std::string_view kTlsAccessDenied("\x15\x03\x01\x00\x02\x02\x31", 7);

// One line of the log in the making: written exactly once, at the latest when it goes out of scope.
class Decision {
 public:
  Decision(DecisionLog& log, std::string host, std::uint16_t port, std::string method)
      : log_(log), started_(async::Clock::now()) {
    record.time = std::chrono::system_clock::now();
    record.host = std::move(host);
    record.port = port;
    record.method = std::move(method);
    record.allowed = true;
  }
  Decision(const Decision&) = delete;
  Decision& operator=(const Decision&) = delete;
  ~Decision() { write(); }

  void deny(std::string_view reason, const domain::NetworkRule* rule) {
    record.allowed = false;
    record.reason = reason;
    record.rule = rule == nullptr ? "" : rule->text;
    write();
  }

  DecisionRecord record;

 private:
  void write() {
    if (std::exchange(written_, true)) return;
    record.duration = std::chrono::duration_cast<std::chrono::milliseconds>(async::Clock::now() - started_);
    log_.add(record);
  }

  DecisionLog& log_;
  const async::Clock::time_point started_;
  bool written_ = false;
};

class Session {
 public:
  Session(Environment& environment, Socket client) : env_(environment), client_(std::move(client)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<void> serve_proxy();
  Task<void> serve_direct(std::string host, std::uint16_t port);

 private:
  enum class Next : bool { kClose, kAnotherRequest };

  // Inside a tunnel to port 80: the only destination that requests may name, already dialled once.
  struct Pinned {
    std::string host;
    std::uint16_t port = 0;
    Route route;
    const domain::NetworkRule* rule = nullptr;
  };
  // A tunnel that the client was promised, between the request and its relaying.
  struct Tunnel {
    Tunnel(DecisionLog& log, std::string host, std::uint16_t port, async::Executor executor)
        : decision(log, std::move(host), port, "CONNECT"), upstream(executor) {}
    Decision decision;
    Admission admission;
    Route route;
    Socket upstream;
  };
  // The origin of the last request, kept for the next one to the same place.
  struct Origin {
    std::string host;
    std::uint16_t port = 0;
    Socket socket;
    IpAddress address;
  };

  Task<std::optional<std::size_t>> read_head(bool first);
  Task<Next> answer_request(std::size_t head_bytes, const Pinned* pinned);
  Task<std::string> open_tunnel(Tunnel& tunnel);
  Task<void> answer_connect(RequestHead head);
  Task<Next> forward(RequestHead head, std::string raw, const Pinned* pinned);
  Task<Next> forward_to_origin(RequestHead head, std::string raw, Route route, Decision& decision);
  Task<std::expected<Origin*, DialFailure>> origin_for(std::string host, std::uint16_t port, Route route);

  Task<void> run_tunnel();
  Task<bool> first_bytes_come(const Admission& admission, Decision& decision);
  Task<void> checked_up(Relay& relay, Socket& upstream, const Admission& admission, Decision& decision);
  enum class Read : std::uint8_t { kSome, kNothingYet, kEnd };
  Read read_now(std::size_t bound);
  Task<bool> read_more(std::size_t bound);
  Task<bool> tls_is_fine(const Admission& admission, Decision& decision);
  Task<void> serve_pinned(Socket upstream, Pinned pinned, Decision& decision);

  Task<bool> send(std::string text);
  Task<void> refuse(std::string answer);
  void release_buffer() { std::string().swap(buffer_); }

  Environment& env_;
  Socket client_;
  std::string buffer_;  // what the client sent and nobody has used yet
  std::size_t scanned_ = 0;
  std::optional<Origin> origin_;
  std::unique_ptr<Tunnel> tunnel_;
};

// ---- bytes ----

Task<bool> Session::send(std::string text) {
  const ssize_t at_once = ::send(client_.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (at_once == static_cast<ssize_t>(text.size())) co_return true;  // nearly always: an answer is short
  const auto rest = asio::buffer(text) + static_cast<std::size_t>(std::max<ssize_t>(at_once, 0));
  const auto [failure, count] = co_await asio::async_write(client_, rest, async::kOutcome);
  co_return !failure;
}

// Sends a last answer. Closing while the client still sends would reset the connection and destroy the answer, so
// what it sends is thrown away for a moment.
Task<void> Session::refuse(std::string answer) {
  if (!co_await send(std::move(answer))) co_return;
  error_code ignored;
  client_.shutdown(Socket::shutdown_send, ignored);
  const async::Deadline limit(client_.get_executor(), kLingerTime, [this] { client_.cancel(); });
  release_buffer();
  std::array<char, 4096> waste;
  for (std::size_t total = 0; total < kLingerBytes;) {
    const ssize_t got = ::recv(client_.native_handle(), waste.data(), waste.size(), MSG_DONTWAIT);
    if (got > 0) {
      total += static_cast<std::size_t>(got);
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) co_return;
    const auto [failure] = co_await client_.async_wait(Socket::wait_read, async::kOutcome);
    if (failure) co_return;
  }
}

// Appends what has come to the buffer. kEnd at the end of the stream, on failure, and when the buffer already holds
// `bound` bytes.
Session::Read Session::read_now(std::size_t bound) {
  const std::size_t before = buffer_.size();
  if (before >= bound) return Read::kEnd;
  buffer_.resize(before + std::min(kReadBytes, bound - before));
  const ssize_t got = ::recv(client_.native_handle(), buffer_.data() + before, buffer_.size() - before, MSG_DONTWAIT);
  const int error_number = errno;
  buffer_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got > 0) return Read::kSome;
  return got < 0 && (error_number == EAGAIN || error_number == EINTR) ? Read::kNothingYet : Read::kEnd;
}

// As read_now(), but waits for something to come, without holding room meanwhile. False at the end.
Task<bool> Session::read_more(std::size_t bound) {
  while (true) {
    const Read got = read_now(bound);
    if (got != Read::kNothingYet) co_return got == Read::kSome;
    if (buffer_.empty()) release_buffer();
    const auto [failure] = co_await client_.async_wait(Socket::wait_read, async::kOutcome);
    if (failure) co_return false;
  }
}

// ---- requests ----

// Length of the next request head in the buffer. Nothing when the client went, was too slow (408) or sent something
// that is no head (400, 431); it has then been told.
Task<std::optional<std::size_t>> Session::read_head(bool first) {
  scanned_ = 0;
  if (buffer_.empty() && !first) {
    release_buffer();
    const async::Deadline idle(client_.get_executor(), env_.bounds.idle_timeout, [this] { client_.cancel(); });
    if (!co_await read_more(kMaxHeadBytes)) co_return std::nullopt;
  }
  if (buffer_.empty()) (void)read_now(kMaxHeadBytes);
  std::optional<async::Deadline> limit;  // only for who keeps us waiting
  while (true) {
    const std::expected<std::optional<std::size_t>, HeadError> end = find_head_end(buffer_, scanned_);
    if (!end) {
      Decision(env_.log, "", 0, "").deny("malformed_request", nullptr);
      co_await refuse(error_answer(end.error()));
      co_return std::nullopt;
    }
    if (*end) co_return **end;
    if (!limit) limit.emplace(client_.get_executor(), env_.bounds.head_timeout, [this] { client_.cancel(); });
    if (co_await read_more(kMaxHeadBytes + 1)) continue;
    if (limit->expired()) co_await refuse(timeout_answer());
    co_return std::nullopt;
  }
}

Task<void> Session::serve_proxy() {
  for (bool first = true;; first = false) {
    const std::optional<std::size_t> head_bytes = co_await read_head(first);
    if (!head_bytes) co_return;
    if (co_await answer_request(*head_bytes, nullptr) == Next::kClose) break;
  }
  // Only here, where the frames of the request are gone: thousands of idle tunnels must be small.
  if (tunnel_) co_await run_tunnel();
}

Task<Session::Next> Session::answer_request(std::size_t head_bytes, const Pinned* pinned) {
  std::string raw = buffer_.substr(0, head_bytes);
  buffer_.erase(0, head_bytes);
  std::expected<RequestHead, HeadError> head =
      parse_request_head(raw, pinned == nullptr ? HeadKind::kProxy : HeadKind::kOrigin);
  if (!head) {
    Decision(env_.log, "", 0, "").deny("malformed_request", nullptr);
    co_await refuse(error_answer(head.error()));
    co_return Next::kClose;
  }
  if (head->form == RequestHead::Form::kConnect) {
    co_await answer_connect(std::move(*head));
    co_return Next::kClose;
  }
  co_return co_await forward(std::move(*head), std::move(raw), pinned);
}

Task<Session::Next> Session::forward(RequestHead head, std::string raw, const Pinned* pinned) {
  Decision decision(env_.log, head.host, head.port, head.method);
  Admission admission;
  std::expected<Route, NoRoute> route = Route{};
  if (pinned != nullptr) {
    if (head.host != pinned->host || head.port != pinned->port) {
      decision.deny("http_host_mismatch", pinned->rule);
      const std::string answer =
          denied_answer(head.host, head.port, "http_host_mismatch", pinned->rule, AnswerForm::kClose);
      co_await refuse(answer);
      co_return Next::kClose;
    }
    route = pinned->route;
    decision.record.rule = pinned->rule == nullptr ? "" : pinned->rule->text;
  } else {
    admission = env_.rules.admit(head.host, head.port, domain::Traffic::kPlainHttp);
    if (admission.allowed) {
      decision.record.rule = admission.rule->text;
      route = co_await find_route(env_, admission, head.host, head.port);
    } else {
      route = std::unexpected(NoRoute{true, std::string(admission.reason), admission.rule, 403});
    }
  }
  if (route) co_return co_await forward_to_origin(std::move(head), std::move(raw), std::move(*route), decision);
  const bool keep = !head.has_body() && !head.wants_close;
  std::string answer;
  if (route.error().refused) {
    decision.deny(route.error().reason, route.error().rule);
    answer = denied_answer(head.host, head.port, route.error().reason, route.error().rule,
                           keep ? AnswerForm::kKeep : AnswerForm::kClose);
  } else {
    decision.record.failure = route.error().reason;
    answer = failure_answer(route.error().status, head.host, head.port, route.error().reason,
                            keep ? AnswerForm::kKeep : AnswerForm::kClose);
  }
  if (keep) co_return co_await send(std::move(answer)) ? Next::kAnotherRequest : Next::kClose;
  co_await refuse(std::move(answer));
  co_return Next::kClose;
}

bool is_still_open(Socket& socket) {
  char byte = 0;
  return ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

Task<std::expected<Session::Origin*, DialFailure>> Session::origin_for(std::string host, std::uint16_t port,
                                                                       Route route) {
  const bool same = origin_ && origin_->host == host && origin_->port == port;
  const bool vetted =
      same && (route.through_upstream || std::ranges::find(route.addresses, origin_->address) != route.addresses.end());
  if (vetted && is_still_open(origin_->socket)) co_return &*origin_;
  origin_.reset();
  std::expected<Dialled, DialFailure> dialled = co_await dial_route(env_, std::move(route), host, port);
  if (!dialled) co_return std::unexpected(std::move(dialled.error()));
  origin_.emplace(Origin{std::move(host), port, std::move(dialled->socket), dialled->address});
  co_return &*origin_;
}

Task<Session::Next> Session::forward_to_origin(RequestHead head, std::string raw, Route route, Decision& decision) {
  std::expected<Origin*, DialFailure> origin = co_await origin_for(head.host, head.port, std::move(route));
  if (!origin) {
    decision.record.failure = origin.error().reason;
    const bool keep = !head.has_body() && !head.wants_close;
    std::string answer = failure_answer(origin.error().status, head.host, head.port, origin.error().reason,
                                        keep ? AnswerForm::kKeep : AnswerForm::kClose);
    if (keep) co_return co_await send(std::move(answer)) ? Next::kAnotherRequest : Next::kClose;
    co_await refuse(std::move(answer));
    co_return Next::kClose;
  }
  decision.record.address = (*origin)->address.to_string();
  net::ExchangeRequest request;
  request.head = std::move(raw);
  request.target = head.path;
  request.host_field = head.authority;
  request.head_method = head.method == "HEAD";
  request.has_body = head.has_body();
  request.http_1_0 = head.http_1_0;
  request.wants_close = head.wants_close;
  request.upgrades_websocket = head.upgrades_websocket;
  Socket& upstream = (*origin)->socket;
  net::ExchangeResult result = co_await net::exchange(client_, buffer_, upstream, std::move(request));
  decision.record.bytes_up = result.bytes_up;
  decision.record.bytes_down = result.bytes_down;
  switch (result.end) {
    case net::ExchangeResult::End::kComplete:
      if (!result.upstream_reusable) origin_.reset();
      if (result.client_reusable) co_return Next::kAnotherRequest;
      co_await refuse({});
      co_return Next::kClose;
    case net::ExchangeResult::End::kSwitched: {
      Relay relay(client_, upstream, env_.pipes);
      if (!co_await send(std::move(result.upstream_left))) co_return Next::kClose;
      (void)co_await asio::async_write(upstream, asio::buffer(buffer_), async::kOutcome);
      release_buffer();
      co_await relay.run();
      decision.record.bytes_up += relay.bytes_up;
      decision.record.bytes_down += relay.bytes_down;
      co_return Next::kClose;
    }
    case net::ExchangeResult::End::kUpstreamFailed:
      decision.record.failure = result.failure;
      co_await refuse(failure_answer(502, head.host, head.port, result.failure, AnswerForm::kClose));
      co_return Next::kClose;
    case net::ExchangeResult::End::kBadRequestBody:
      decision.record.failure = "malformed_body";
      co_await refuse(error_answer({.message = "The request or its body is malformed."}));
      co_return Next::kClose;
    case net::ExchangeResult::End::kBroken:
      reset_connection(client_);
      co_return Next::kClose;
  }
  co_return Next::kClose;
}

// ---- tunnels ----

// Leaves the tunnel in tunnel_ when the client was answered 200.
Task<void> Session::answer_connect(RequestHead head) {
  auto tunnel = std::make_unique<Tunnel>(env_.log, std::move(head.host), head.port, client_.get_executor());
  std::string refusal = co_await open_tunnel(*tunnel);
  if (!refusal.empty()) co_return co_await refuse(std::move(refusal));
  if (co_await send("HTTP/1.1 200 Connection Established\r\n\r\n")) tunnel_ = std::move(tunnel);
}

// Connects the tunnel; the answer to the client when that is not to be.
Task<std::string> Session::open_tunnel(Tunnel& tunnel) {
  DecisionRecord& record = tunnel.decision.record;
  const Admission admission = env_.rules.admit(record.host, record.port, domain::Traffic::kTunnel);
  tunnel.admission = admission;
  if (!admission.allowed) {
    tunnel.decision.deny(admission.reason, admission.rule);
    co_return denied_answer(record.host, record.port, admission.reason, admission.rule, AnswerForm::kConnect);
  }
  record.rule = admission.rule->text;
  std::expected<Route, NoRoute> route = co_await find_route(env_, admission, record.host, record.port);
  if (!route) {
    const NoRoute& error = route.error();
    if (error.refused) {
      tunnel.decision.deny(error.reason, error.rule);
      co_return denied_answer(record.host, record.port, error.reason, error.rule, AnswerForm::kConnect);
    }
    record.failure = error.reason;
    co_return failure_answer(error.status, record.host, record.port, error.reason, AnswerForm::kConnect);
  }
  tunnel.route = *route;
  std::expected<Dialled, DialFailure> dialled = co_await dial_route(env_, std::move(*route), record.host, record.port);
  if (!dialled) {
    record.failure = dialled.error().reason;
    co_return failure_answer(dialled.error().status, record.host, record.port, record.failure, AnswerForm::kConnect);
  }
  record.address = dialled->address.to_string();
  tunnel.upstream = std::move(dialled->socket);
  co_return std::string();
}

Task<void> Session::run_tunnel() {
  Decision& decision = tunnel_->decision;
  const Admission& admission = tunnel_->admission;
  if (admission.check == ContentCheck::kHttp || admission.check == ContentCheck::kHttpOrTls) {
    if (!co_await first_bytes_come(admission, decision)) co_return;
    if (admission.check == ContentCheck::kHttp || buffer_.front() != kTlsHandshake) {
      Pinned pinned{decision.record.host, decision.record.port, std::move(tunnel_->route), admission.rule};
      co_return co_await serve_pinned(std::move(tunnel_->upstream), std::move(pinned), decision);
    }
  }
  Relay relay(client_, tunnel_->upstream, env_.pipes);
  if (buffer_.empty() && admission.check == ContentCheck::kNone) {
    release_buffer();
    co_await relay.run();
  } else {
    using namespace asio::experimental::awaitable_operators;
    co_await (checked_up(relay, tunnel_->upstream, admission, decision) && relay.pump_down());
  }
  decision.record.bytes_up += relay.bytes_up;
  decision.record.bytes_down += relay.bytes_down;
}

// In a tunnel that must be HTTP the client speaks first, and in time.
Task<bool> Session::first_bytes_come(const Admission& admission, Decision& decision) {
  if (!buffer_.empty()) co_return true;
  const async::Deadline limit(client_.get_executor(), env_.bounds.head_timeout, [this] { client_.cancel(); });
  if (co_await read_more(kMaxHeadBytes)) co_return true;
  if (limit.expired()) decision.deny("not_http", admission.rule);
  co_return false;
}

// The upward direction of a tunnel whose first bytes decide whether it may live. Downward already flows, so a
// protocol in which the server speaks first is not held up.
Task<void> Session::checked_up(Relay& relay, Socket& upstream, const Admission& admission, Decision& decision) {
  if (admission.check != ContentCheck::kNone && !co_await tls_is_fine(admission, decision)) {
    if (relay.bytes_down == 0 && buffer_.starts_with(kTlsHandshake)) (void)co_await send(std::string(kTlsAccessDenied));
    error_code ignored;
    client_.shutdown(Socket::shutdown_send, ignored);
    upstream.close(ignored);
    client_.cancel(ignored);
    co_return;
  }
  if (!buffer_.empty()) {
    const auto [failure, count] = co_await asio::async_write(upstream, asio::buffer(buffer_), async::kOutcome);
    relay.bytes_up += count;
    release_buffer();
    if (failure) co_return relay.abort();
  }
  co_await relay.pump_up();
}

// Reads the client's first bytes. A client that ends before it has said anything is fine: there is nothing to judge.
Task<bool> Session::tls_is_fine(const Admission& admission, Decision& decision) {
  const bool must_be_tls = admission.check == ContentCheck::kTls;
  if (buffer_.empty() && !must_be_tls && !co_await read_more(kMaxClientHelloBytes + 1)) co_return true;
  const async::Deadline limit(client_.get_executor(), env_.bounds.head_timeout, [this] { client_.cancel(); });
  while (true) {
    const ClientHello hello = read_client_hello(buffer_);
    switch (hello.state) {
      case ClientHello::State::kComplete: {
        if (hello.server_name.empty()) {
          decision.deny("sni_missing", admission.rule);
          co_return false;
        }
        const Result<std::string> name = domain::canonical_host(hello.server_name);
        if (name && *name == decision.record.host) co_return true;
        decision.deny("sni_mismatch", admission.rule);
        co_return false;
      }
      case ClientHello::State::kNotTls:
        if (!must_be_tls) co_return true;
        decision.deny("not_tls", admission.rule);
        co_return false;
      case ClientHello::State::kMalformed:
        decision.deny("malformed_tls", admission.rule);
        co_return false;
      case ClientHello::State::kIncomplete:
        break;
    }
    if (co_await read_more(2 * kMaxClientHelloBytes)) continue;
    if (buffer_.empty() && !limit.expired()) co_return true;
    decision.deny(buffer_.empty() ? "not_tls" : "malformed_tls", admission.rule);
    co_return false;
  }
}

// Plain HTTP inside a tunnel: every request must name the host of the tunnel.
Task<void> Session::serve_pinned(Socket upstream, Pinned pinned, Decision& decision) {
  origin_.emplace(Origin{pinned.host, pinned.port, std::move(upstream), IpAddress()});
  origin_->address = IpAddress::parse(decision.record.address).value_or(IpAddress());
  for (bool first = true;; first = false) {
    const std::optional<std::size_t> head_bytes = co_await read_head(first);
    if (!head_bytes) co_return;
    if (co_await answer_request(*head_bytes, &pinned) == Next::kClose) co_return;
  }
}

Task<void> Session::serve_direct(std::string host, std::uint16_t port) {
  Decision decision(env_.log, host, port, "DIRECT");
  const Admission admission = env_.rules.admit(host, port, domain::Traffic::kTunnel);
  if (!admission.allowed) co_return decision.deny(admission.reason, admission.rule);
  decision.record.rule = admission.rule->text;
  std::expected<Route, NoRoute> route = co_await find_route(env_, admission, host, port);
  if (!route) {
    if (route.error().refused) co_return decision.deny(route.error().reason, route.error().rule);
    decision.record.failure = route.error().reason;
    co_return;
  }
  // The program may listen on the other address of localhost only; a rule for localhost covers both.
  for (const IpAddress& other : {IpAddress::v4(0x7F000001), *IpAddress::parse("::1")}) {
    const bool known = std::ranges::find(route->addresses, other) != route->addresses.end();
    if (!known && env_.rules.vet(admission, other, port, {}).allowed) route->addresses.push_back(other);
  }
  std::expected<Dialled, DialFailure> dialled = co_await dial_route(env_, std::move(*route), host, port);
  if (!dialled) {
    // Nobody listens there: the client sees a reset, the nearest to "connection refused" that is left.
    reset_connection(client_);
    decision.record.failure = dialled.error().reason;
    co_return;
  }
  decision.record.address = dialled->address.to_string();
  Relay relay(client_, dialled->socket, env_.pipes);
  co_await relay.run();
  decision.record.bytes_up = relay.bytes_up;
  decision.record.bytes_down = relay.bytes_down;
}

}  // namespace

Task<void> serve_proxy_client(Environment& environment, Socket client) {
  Session session(environment, std::move(client));
  co_await session.serve_proxy();
}

Task<void> serve_direct_client(Environment& environment, Socket client, std::string host, std::uint16_t port) {
  Session session(environment, std::move(client));
  co_await session.serve_direct(std::move(host), port);
}

}  // namespace cofferdam::egress
