// The in-sandbox end of the egress proxy: its listening sockets, and a helper that dials through it.
#pragma once

#include "confinement/init_protocol.h"

namespace cofferdam::init {

// Makes the listening sockets inside this network namespace and hands them to the proxy process, which accepts on
// them from outside: a socket keeps the namespace it was made in, so no byte is copied in between.
// The channel stays open: its end tells the proxy that the sandbox has gone.
void hand_over_listeners(const confinement::init::Specification& spec);

// `cofferdam-init connect HOST PORT`: standard input and output through a CONNECT tunnel of the proxy, for ssh's
// ProxyCommand. Returns the exit code.
int connect_through_proxy(const char* host, const char* port);

}  // namespace cofferdam::init
