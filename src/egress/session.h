// One client connection of the proxy, from its first byte to its end.
#pragma once

#include <cstdint>
#include <string>

#include "async/loop.h"
#include "egress/environment.h"

namespace cofferdam::egress {

// Serves the requests of a client until it goes or is refused. The environment must outlive the task.
async::Task<void> serve_proxy_client(Environment& environment, async::Socket client);

// Forwards a connection to a listener on a loopback port of the sandbox to that port of the host.
async::Task<void> serve_direct_client(Environment& environment, async::Socket client, std::string host,
                                      std::uint16_t port);

}  // namespace cofferdam::egress
