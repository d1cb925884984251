// The proxy itself: listeners, connections, log.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "async/loop.h"
#include "async/task_scope.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "egress/session.h"

namespace cofferdam::egress {

// What a listener is for.
struct ProxyListener {};
struct DirectListener {
  std::string host;  // canonical loopback address
  std::uint16_t port = 0;
};
using ListenerPurpose = std::variant<ProxyListener, DirectListener>;

// "proxy" or "direct HOST PORT", as cofferdam-init sends it with the socket.
Result<ListenerPurpose> parse_listener_purpose(std::string_view text);

// Owns the listeners and every connection. Lives on one loop; stop() must have been awaited before it goes.
// Short of descriptors or at its bound of connections it stops accepting and goes on when some are free again.
class Server {
 public:
  // `resolver` outlives the server. `log` may be none.
  Server(async::Loop& loop, EgressConfig config, std::optional<UpstreamProxy> upstream, Resolver& resolver,
         UniqueFd log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes a listening TCP socket, of whatever network namespace.
  Status add_listener(UniqueFd socket, ListenerPurpose purpose);
  // Takes listeners from the channel until its other end is closed, which cofferdam-init does before it starts the
  // command. When the sandbox ends its connections end by themselves.
  void serve_channel(UniqueFd channel);
  // Closes listeners and connections and waits for them; the log is complete afterwards.
  async::Task<void> stop();

  const EgressSummary& summary() const { return log_.summary(); }
  std::size_t connections() const { return connections_.size(); }

 private:
  using Acceptor = async::asio::basic_socket_acceptor<async::Tcp, async::Executor>;

  async::Task<void> accept_from(Acceptor acceptor, ListenerPurpose purpose);
  async::Task<void> read_channel(UniqueFd channel);
  async::Task<void> serve(async::Socket client, ListenerPurpose purpose);
  void receive_listener(int channel, bool& open);
  void report(std::string_view what);

  async::Executor executor_;
  const EgressConfig config_;
  const std::optional<UpstreamProxy> upstream_;
  const domain::EgressRules rules_;
  DecisionLog log_;
  PipePool pipes_;
  OwnAddresses own_;
  UnresolvedNames unresolved_;
  Environment environment_;
  async::TaskScope listeners_;
  async::TaskScope connections_;
  async::Timer room_;  // cancelled when a connection ends
};

}  // namespace cofferdam::egress
